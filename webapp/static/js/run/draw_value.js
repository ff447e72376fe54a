// One logged value: every rank's raw line thin and pale, the smoothed line on top, or one line over the ranks; NaN and
// infinity marked.
import {bySteps, layout, note, plot, tickFormat, token} from "./chart_style.js";
import {spanOf} from "./chart_range.js";
import {ghostLines, withGhosts} from "./ghosts.js";
import {band, holeBands} from "./holes.js";
import {mark} from "./marks.js";
import {say} from "./words.js";

const MARKS = 40; // more than this many NaNs are one red field, not single lines

export function drawValue(element, panel, view) {
  const {smooth, raw, edges} = parts(panel.columns);
  const all = [...Object.values(raw), ...edges].flat();
  const range = withGhosts(spanOf(all, all).range, panel);
  const span = range[1] - range[0];
  const format = tickFormat(span, Math.max(...range.map(Math.abs)));
  const style = layout({margin: {l: format.endsWith("e") ? 60 : 44}, xaxis: {...bySteps(), range: view.range, nticks: 5},
    yaxis: {range, tickformat: format, hoverformat: span < 8 ? ".4~g" : ",.4~g"}});
  mark(Object.assign(style, nonfinite(panel)), view);
  return plot(element, [...holeBands(view, range), ...ghostLines(panel), ...(edges.length ? band(panel, ...edges) : []), ...lines(panel.x, raw, Boolean(smooth)),
    ...(smooth ? [{x: panel.x, y: smooth, name: say("smoothed"), mode: "lines", connectgaps: false,
      line: {width: 1.75, color: token("accent")}}] : [])], style);
}

// The lines, and the edges of the field behind them if there is one.
function parts({smooth, ...columns}) {
  if (columns.median) return {smooth, raw: {median: columns.median}, edges: [columns.min, columns.max]};
  const {low, high, ...raw} = columns;
  return {smooth, raw, edges: low ? [low, high] : []};
}

function lines(x, raw, smoothed) {
  const few = x.length < 25;
  return Object.entries(raw).map(([name, y]) => ({
    x, y, name, mode: few ? "lines+markers" : "lines", opacity: smoothed && !few ? 0.45 : 1, marker: {size: 4},
    line: {width: smoothed ? 1 : 1.5, color: token(smoothed ? "c-quiet" : "accent")}}));
}

function nonfinite(panel) {
  const marks = Object.entries(panel.nonfinite ?? {}).map(([x, text]) => [Number(x), text]).sort((a, b) => a[0] - b[0]);
  if (!marks.length) return {};
  const [first, text] = marks[0], final = marks[marks.length - 1][0];
  const line = {color: token("crit"), width: 1};
  const shapes = marks.length <= MARKS
    ? marks.map(([x]) => ({type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: 1, line}))
    : [{type: "rect", x0: first, x1: final, yref: "paper", y0: 0, y1: 1, line, fillcolor: token("crit-soft"), layer: "below"}];
  const right = first > (panel.x[0] + panel.x[panel.x.length - 1]) / 2;
  return {shapes, annotations: [note({x: first, yref: "paper", y: 1, yanchor: "top", xanchor: right ? "right" : "left",
    xshift: right ? -4 : 4, text: `<b>${say("from_step", {text, step: first})}</b>`,
    font: {size: 11, color: token("crit"), family: token("font")}})]};
}
