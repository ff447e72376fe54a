// Step time by rank: band from least to most, the median, and the three ranks that deviate most, by name.
import {bySteps, layout, note, plot, tickFormat, token} from "./chart_style.js";
import {peakLabel} from "./peak.js";
import {ghostLines, withGhosts} from "./ghosts.js";
import {band, holeBands} from "./holes.js";
import {mark} from "./marks.js";
import {onsetLabel} from "./onset.js";
import {isLate, last, spanOf, spread} from "./chart_range.js";
import {say} from "./words.js";

const DASHES = ["solid", "5px,3px", "1px,3px"];

export function drawStepTime(element, panel, view) {
  const {min, median, max} = panel.columns;
  const {range: own, peak} = spanOf(min, max), range = withGhosts(own, panel);
  const late = isLate(panel);
  const worst = (panel.worst ?? []).filter(name => panel.columns[name]);
  const style = layout({margin: {r: 76}, xaxis: {...bySteps(), range: view.range},
    yaxis: {range, tickformat: tickFormat(range[1] - range[0]), hoverformat: ",.1f"}});
  style.annotations = [...endLabels(panel, worst, late, range, element.clientHeight - 36),
    ...peakLabel(peak, panel, view.range), ...onsetLabel(view, worst[0], late)];
  mark(style, view, {named: true});
  const line = (y, more) => ({x: panel.x, y, mode: "lines", ...more});
  return plot(element, [...holeBands(view, range), ...ghostLines(panel),
    ...band(panel, min, max),
    ...worst.map((name, i) => line(panel.columns[name], {name, line: rankLine(i, late), opacity: late ? 1 : 0.55})).reverse(),
    line(median, {name: say("median"), line: {width: 1.75, color: token("c-line")}}),
  ], style);
}

const rankLine = (place, late) => ({
  width: place || !late ? 1 : 1.75, dash: DASHES[place], color: token(place || !late ? "c-quiet" : "lost")});

function endLabels(panel, worst, late, range, height) {
  const entries = worst.map((name, i) => ({y: last(panel.columns[name]), ...rankLabel(name, late && i === 0)}));
  entries.push({y: last(panel.columns.median), text: say("median"), color: token("ink")});
  const shown = entries.filter(entry => Number.isFinite(entry.y));
  return spread(shown, range, height).map(entry => note({
    xref: "paper", x: 1, xanchor: "left", xshift: 6, y: entry.y, yshift: entry.shift, text: entry.text,
    font: {size: 11, color: entry.color, family: token("font")}}));
}

const rankLabel = (name, late) =>
  late ? {text: `<b>${name}</b>`, color: token("warn")} : {text: name, color: token("c-tick")};
