// Settings and results of runs: parallel coordinates, and one against another. Colour says how good the result is.
import {isNarrow, layout, note, plot, sequential, tickFormat, token} from "../run/chart_style.js";
import {BESIDE, BEYOND, MARGIN} from "./brush.js";
import {escaped} from "./run_style.js";
import {endsOf, isText, placesOf} from "./value_ranges.js";

const MOST_AXES = 12, PALEST = 2; // the palest steps of the ramp are not seen on white
const FAINT = 0.1; // what is outside of the chosen ranges

export const shownAxes = axes => axes.slice(-MOST_AXES);

export function coloursBy(by, more) {
  const ramp = sequential().map(([, color]) => color);
  return placesOf(by).map(at => at === null ? token("c-quiet")
    : ramp[PALEST + Math.round((more ? 1 - at : at) * (ramp.length - 1 - PALEST))]);
}

// `keep(uid)`: whether the run is shown; `inside(run)`: whether it lies in all chosen ranges, by its place.
export function drawParallel(element, {uids, axes: shown, colours, names, keep, inside}) {
  const places = shown.map(placesOf);
  const order = [...uids.keys()].sort((a, b) => inside(a) - inside(b)); // what is chosen lies above
  const traces = order.map(run => ({type: "scatter", mode: "lines+markers", x: shown.map((_, i) => i), y: places.map(at => at[run]),
    connectgaps: true, visible: keep(uids[run]), name: uids[run], line: {color: colours[run], width: 1.75}, marker: {size: 5, color: colours[run]},
    opacity: inside(run) ? 0.85 : FAINT, hoverinfo: inside(run) ? undefined : "skip",
    text: shown.map(one => `${escaped(names[run])}<br>${escaped(one.title)}: ${escaped(String(one.values[run] ?? "–"))}`),
    hovertemplate: inside(run) ? "%{text}<extra></extra>" : undefined}));
  const small = {font: {size: 11, color: token("c-tick"), family: token("font")}, bgcolor: token("surface"), borderpad: 1};
  const annotations = shown.flatMap((one, i) => [
    note({x: i, y: 1, yref: "paper", yanchor: "bottom", yshift: 20, text: `<b>${escaped(shortened(one.title, shown.length))}</b>`, font: {...small.font, color: token("ink")}}),
    ...endsOf(one).map((text, k, all) => note({...small, x: i, y: all.length < 2 ? 0.5 : k / (all.length - 1), xanchor: "center",
      yanchor: k === all.length - 1 && k ? "bottom" : k ? "middle" : "top", yshift: k === all.length - 1 && k ? 6 : k ? 0 : -6, text: escaped(shortened(text, shown.length))})),
  ]);
  return plot(element, traces, layout({hovermode: "closest", dragmode: false, annotations, margin: MARGIN,
    xaxis: {range: [-BESIDE, shown.length - 1 + BESIDE], showline: false, showticklabels: false, fixedrange: true},
    yaxis: {range: [-BEYOND, 1 + BEYOND], showgrid: false, showticklabels: false},
    shapes: shown.map((_, i) => ({type: "line", x0: i, x1: i, y0: 0, y1: 1, layer: "below", line: {color: token("c-axis"), width: 1}}))}));
}

function shortened(text, axes) {
  const most = Math.max(6, Math.floor((isNarrow() ? 48 : 150) / axes));
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

export function drawScatter(element, {uids, x, y, colours, names, keep, inside}) {
  const at = uids.map((uid, run) => run).filter(run => keep(uids[run]) && x.values[run] !== null && y.values[run] !== null);
  const axis = one => isText(one) ? {type: "category", tickformat: undefined}
    : {type: "linear", tickformat: tickFormat(Math.max(...at.map(run => one.values[run])) - Math.min(...at.map(run => one.values[run])))};
  return plot(element, [{type: "scatter", mode: "markers", x: at.map(run => x.values[run]), y: at.map(run => y.values[run]),
    text: at.map(run => escaped(names[run])), marker: {size: 9, color: at.map(run => colours[run]), opacity: at.map(run => inside(run) ? 1 : 1.5 * FAINT), line: {color: token("c-quiet"), width: 0.5}},
    hovertemplate: `%{text}<br>${escaped(x.title)}: %{x}<br>${escaped(y.title)}: %{y}<extra></extra>`}],
  layout({hovermode: "closest", margin: {l: 64, b: 40}, xaxis: {...axis(x), showgrid: true, gridcolor: token("c-grid"), title: {text: escaped(x.title), standoff: 4}, hoverformat: ".4~g"},
    yaxis: {...axis(y), hoverformat: ".4~g"}}), {doubleClick: "reset"});
}
