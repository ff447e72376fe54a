// Communication: what the transfer takes, what is waiting for the slowest rank, and the bus bandwidth.
import {bySteps, hatch, layout, plot, token} from "./chart_style.js";
import {holeBands, pieces} from "./holes.js";
import {mark} from "./marks.js";
import {peakLabel} from "./peak.js";
import {spanOf} from "./chart_range.js";
import {say} from "./words.js";

export function drawComm(element, panel, view) {
  const {transfer, wait} = panel.columns;
  const sums = panel.x.map((_, i) => (transfer[i] ?? 0) + (wait[i] ?? 0));
  const {range, peak} = spanOf(sums, sums, {zero: true}), lost = token("lost");
  const area = ([first, end], y, name, more) => ({x: panel.x.slice(first, end), y: y.slice(first, end), name: say(name),
    stackgroup: `from ${first}`, stackgaps: "interpolate", mode: "lines", ...more});
  return plot(element, [...pieces(panel).flatMap(piece => [
    area(piece, transfer, "transfer", {line: {width: 0}, fillcolor: token("c-quiet")}),
    area(piece, wait, "wait", {line: {width: 1, color: lost}, fillcolor: lost, fillpattern: hatch(lost)}),
  ]), ...holeBands(view, range)], mark(layout({annotations: peakLabel(peak, panel, view.range), margin: {b: 8},
    xaxis: {showticklabels: false, range: view.range},
    yaxis: {range, nticks: 4, hoverformat: ",.1f"}}), view));
}

export function drawBusbw(element, panel, view) {
  const y = Object.values(panel.columns)[0] ?? [];
  const {range} = spanOf(y, y, {zero: true});
  const style = mark(layout({xaxis: {...bySteps(), range: view.range}, yaxis: {range, nticks: 3, hoverformat: ",.2f"}}), view);
  return plot(element, [...holeBands(view, range), {x: panel.x, y, name: say("busbw"), mode: "lines",
    line: {width: 1.5, color: token("accent")}}], style);
}
