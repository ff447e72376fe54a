// Settings and results of runs: parallel coordinates, and one against another. Colour says how good the result is.
import {language} from "../language.js";
import {isNarrow, layout, note, plot, sequential, tickFormat, token} from "../run/chart_style.js";
import {escaped} from "./run_style.js";

const MOST_AXES = 12, PALEST = 2; // the palest steps of the ramp are not seen on white

export const isText = one => one.values.some(value => typeof value === "string");

// Place of each run's value between 0 and 1; null where it has none.
function places(one) {
  const known = one.values.filter(value => value !== null);
  if (isText(one)) {
    const words = [...new Set(known)].sort();
    return {at: one.values.map(v => v === null ? null : words.length < 2 ? 0.5 : words.indexOf(v) / (words.length - 1)), ends: words.map(String)};
  }
  const low = Math.min(...known), high = Math.max(...known);
  return {at: one.values.map(v => v === null ? null : high === low ? 0.5 : (v - low) / (high - low)), ends: [figure(low), figure(high)]};
}

const figure = value => value.toLocaleString(language, {maximumSignificantDigits: 4,
  notation: Math.abs(value) >= 1e5 || (value && Math.abs(value) < 1e-3) ? "scientific" : "standard"}).toLowerCase();

export function coloursBy(by, more) {
  const ramp = sequential().map(([, color]) => color);
  return places(by).at.map(at => at === null ? token("c-quiet")
    : ramp[PALEST + Math.round((more ? 1 - at : at) * (ramp.length - 1 - PALEST))]);
}

// `keep(uid)`: whether the run is shown.
export function drawParallel(element, {uids, axes, colours, names, keep}) {
  const shown = axes.slice(-MOST_AXES), scaled = shown.map(places);
  const traces = uids.map((uid, run) => ({type: "scatter", mode: "lines+markers", x: shown.map((_, i) => i), y: scaled.map(({at}) => at[run]),
    connectgaps: true, visible: keep(uid), name: uid, line: {color: colours[run], width: 1.75}, marker: {size: 5, color: colours[run]}, opacity: 0.85,
    text: shown.map(one => `${escaped(names[run])}<br>${escaped(one.title)}: ${escaped(String(one.values[run] ?? "–"))}`),
    hovertemplate: "%{text}<extra></extra>"}));
  const small = {font: {size: 11, color: token("c-tick"), family: token("font")}, bgcolor: token("surface"), borderpad: 1};
  const annotations = shown.flatMap((one, i) => [
    note({x: i, y: 1, yref: "paper", yanchor: "bottom", yshift: 20, text: `<b>${escaped(shortened(one.title, shown.length))}</b>`, font: {...small.font, color: token("ink")}}),
    ...scaled[i].ends.map((text, k, all) => note({...small, x: i, y: all.length < 2 ? 0.5 : k / (all.length - 1), xanchor: "center",
      yanchor: k === all.length - 1 && k ? "bottom" : k ? "middle" : "top", yshift: k === all.length - 1 && k ? 6 : k ? 0 : -6, text: escaped(shortened(text, shown.length))})),
  ]);
  return plot(element, traces, layout({hovermode: "closest", dragmode: false, annotations, margin: {l: 44, r: 44, t: 44, b: 24},
    xaxis: {range: [-0.15, shown.length - 0.85], showline: false, showticklabels: false, fixedrange: true},
    yaxis: {range: [-0.06, 1.06], showgrid: false, showticklabels: false},
    shapes: shown.map((_, i) => ({type: "line", x0: i, x1: i, y0: 0, y1: 1, layer: "below", line: {color: token("c-axis"), width: 1}}))}));
}

function shortened(text, axes) {
  const most = Math.max(6, Math.floor((isNarrow() ? 48 : 150) / axes));
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

export function drawScatter(element, {uids, x, y, colours, names, keep}) {
  const at = uids.map((uid, run) => run).filter(run => keep(uids[run]) && x.values[run] !== null && y.values[run] !== null);
  const axis = one => isText(one) ? {type: "category", tickformat: undefined}
    : {type: "linear", tickformat: tickFormat(Math.max(...at.map(run => one.values[run])) - Math.min(...at.map(run => one.values[run])))};
  return plot(element, [{type: "scatter", mode: "markers", x: at.map(run => x.values[run]), y: at.map(run => y.values[run]),
    text: at.map(run => escaped(names[run])), marker: {size: 9, color: at.map(run => colours[run]), line: {color: token("c-quiet"), width: 0.5}},
    hovertemplate: `%{text}<br>${escaped(x.title)}: %{x}<br>${escaped(y.title)}: %{y}<extra></extra>`}],
  layout({hovermode: "closest", margin: {l: 64, b: 40}, xaxis: {...axis(x), showgrid: true, gridcolor: token("c-grid"), title: {text: escaped(x.title), standoff: 4}, hoverformat: ".4~g"},
    yaxis: {...axis(y), hoverformat: ".4~g"}}), {doubleClick: "reset"});
}
