// Throughput against ranks with the ideal line from the smallest size, and below how much of the ideal it is.
import {layout, note, plot, token} from "../run/chart_style.js";
import {say} from "../run/words.js";
import {colourOf, escaped} from "./run_style.js";

export async function drawScaling(places, answer, runs) {
  const shown = new Map(runs.map(run => [run.uid, run]));
  const at = answer.uids.map((uid, i) => [shown.get(uid), i]).filter(([run]) => run);
  const dots = (values, text) => ({type: "scatter", mode: "markers", x: at.map(([, i]) => answer.ranks[i]),
    y: at.map(([, i]) => values[i]), text: at.map(([run]) => escaped(run.name)),
    marker: {size: 8, color: at.map(([run]) => colourOf(run)), line: {color: token("surface"), width: 1}},
    hovertemplate: `%{text}<br>%{x:,d} ${say("ranks")}: ${text}<extra></extra>`});
  const sizes = [...new Set(answer.ranks)].sort((a, b) => a - b), most = Math.max(...sizes, 1);
  const word = `${say("ranks")} `, few = sizes.length <= 8; // on the first number, as on an axis of steps
  // A number that would stand in the one before it is left out.
  const marked = sizes.reduce((kept, size) => size - (kept.at(-1) ?? -most) < most / 8 ? kept : [...kept, size], []);
  const xaxis = {range: [0, most * 1.08], fixedrange: true, ...(few
    ? {tickmode: "array", tickvals: marked, ticktext: marked.map((size, i) => i ? size : word + size)}
    : {tickprefix: word, showtickprefix: "first"})};
  const {x, y} = answer.ideal, end = {x: x[1], y: y[1]};
  await plot(places.throughput, [
    {type: "scatter", mode: "lines", x: [0, ...x], y: [0, ...y], hoverinfo: "skip", line: {color: token("c-mark"), width: 1, dash: "dot"}},
    dots(answer.throughput, "%{y:,.4~g}"),
  ], layout({hovermode: "closest", dragmode: false, margin: {l: 56, r: 44}, xaxis, yaxis: {rangemode: "tozero", tickformat: ",~s"},
    annotations: x.length && x[0] !== x[1] ? [note({...end, text: say("ideal"), xanchor: "left", xshift: 4})] : []}));
  await plot(places.efficiency, [dots(answer.efficiency, "%{y:.0f} %")], layout({hovermode: "closest", dragmode: false,
    margin: {l: 56, r: 44}, xaxis, yaxis: {range: [0, Math.max(108, ...answer.efficiency) * 1.04], tickvals: [0, 50, 100], ticktext: ["0 %", "50 %", "100 %"]},
    shapes: [{type: "line", x0: 0, x1: 1, xref: "paper", y0: 100, y1: 100, line: {color: token("c-mark"), width: 1, dash: "dot"}}]}));
}
