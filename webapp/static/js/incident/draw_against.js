// A subject step by step against its ground: the field in which the others (or what is usual) lie, their middle, and
// the subject. The onset is marked.
import {bySteps, layout, note, plot, tickFormat, token} from "../run/chart_style.js";
import {spanOf} from "../run/chart_range.js";
import {mark} from "../run/marks.js";
import {say} from "../run/words.js";

export function drawAgainst(element, {x, columns, names}, view) {
  const {low, high, ground, subject} = columns;
  const tops = x.map((_, i) => Math.max(subject[i] ?? -Infinity, high[i] ?? ground[i] ?? -Infinity));
  const {range} = spanOf([...low, ...ground, ...subject].map(value => value ?? NaN), tops);
  const style = layout({xaxis: {...bySteps(), range: view.range}, margin: {t: 20},
    yaxis: {range, tickformat: tickFormat(range[1] - range[0]), hoverformat: ",.1f"}});
  style.annotations = began(view);
  const line = (y, more) => ({x, y, mode: "lines", ...more});
  return plot(element, [
    line(low, {line: {width: 0}, hoverinfo: "skip"}),
    line(high, {line: {width: 0}, fill: "tonexty", fillcolor: token("c-band"), hoverinfo: "skip"}),
    line(ground, {name: names.ground, line: {width: 1.75, color: token("c-line")}}),
    line(subject, {name: names.subject, line: {width: 1.75, color: token(view.bad)}}),
  ], mark(style, view));
}

const began = ({onset, range: [first, final]}) => !(onset > first && onset < final) ? [] : [note({x: onset,
  yref: "paper", y: 1, yanchor: "bottom", text: say("onset"), xanchor: onset > (first + final) / 2 ? "right" : "left"})];
