// Communication: what the transfer takes, what is waiting for the slowest rank, and the bus bandwidth.
import {hatch, layout, note, plot, token} from "./chart_style.js";
import {last, spanOf} from "./chart_range.js";
import {number, say} from "./words.js";

export function drawComm(element, panel, view) {
  const {transfer, wait} = panel.columns;
  const sums = panel.x.map((_, i) => (transfer[i] ?? 0) + (wait[i] ?? 0));
  const {range} = spanOf(sums, sums, {zero: true}), lost = token("lost");
  const area = (y, name, more) => ({x: panel.x, y, name: say(name), stackgroup: "a", mode: "lines", ...more});
  return plot(element, [
    area(transfer, "transfer", {line: {width: 0}, fillcolor: token("c-quiet")}),
    area(wait, "wait", {line: {width: 1, color: lost}, fillcolor: lost, fillpattern: hatch(lost)}),
  ], layout({margin: {b: 8}, xaxis: {showticklabels: false, range: view.range},
    yaxis: {range, nticks: 4, hoverformat: ",.1f"}}));
}

export function drawBusbw(element, panel, view) {
  const y = Object.values(panel.columns)[0] ?? [];
  const {range} = spanOf(y, y, {zero: true}), now = last(y);
  const style = layout({xaxis: {range: view.range}, yaxis: {range: [0, range[1] * 1.25], nticks: 3, hoverformat: ",.2f"}});
  if (Number.isFinite(now)) style.annotations = [measured(now)];
  return plot(element, [{x: panel.x, y, name: say("busbw"), mode: "lines",
    line: {width: 1.5, color: token("accent")}}], style);
}

const measured = value => note({xref: "paper", x: 1, xanchor: "right", yref: "paper", y: 1, yanchor: "top",
  text: `${say("measured")} ${number(value, value < 10 ? 2 : 1)}`,
  font: {size: 11, color: token("ink"), family: token("font")}});
