// Communication: what the transfer takes, what is waiting for the slowest rank, and the bus bandwidth.
import {hatch, layout, plot, token} from "./chart_style.js";
import {onsetMark} from "./onset.js";
import {peakLabel} from "./peak.js";
import {spanOf} from "./chart_range.js";
import {say} from "./words.js";

export function drawComm(element, panel, view) {
  const {transfer, wait} = panel.columns;
  const sums = panel.x.map((_, i) => (transfer[i] ?? 0) + (wait[i] ?? 0));
  const {range, peak} = spanOf(sums, sums, {zero: true}), lost = token("lost");
  const area = (y, name, more) => ({x: panel.x, y, name: say(name), stackgroup: "a", stackgaps: "interpolate",
    mode: "lines", ...more});
  return plot(element, [
    area(transfer, "transfer", {line: {width: 0}, fillcolor: token("c-quiet")}),
    area(wait, "wait", {line: {width: 1, color: lost}, fillcolor: lost, fillpattern: hatch(lost)}),
  ], layout({shapes: onsetMark(view), annotations: peakLabel(peak, panel, view.range), margin: {b: 8},
    xaxis: {showticklabels: false, range: view.range},
    yaxis: {range, nticks: 4, hoverformat: ",.1f"}}));
}

export function drawBusbw(element, panel, view) {
  const y = Object.values(panel.columns)[0] ?? [];
  const {range} = spanOf(y, y, {zero: true});
  const style = layout({shapes: onsetMark(view), xaxis: {range: view.range},
    yaxis: {range, nticks: 3, hoverformat: ",.2f"}});
  return plot(element, [{x: panel.x, y, name: say("busbw"), mode: "lines",
    line: {width: 1.5, color: token("accent")}}], style);
}
