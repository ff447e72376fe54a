// Chart style: every colour is read from the tokens, so one redraw puts a chart into the other theme.
import {separators} from "../language.js";

let tokens = new Map();

export function token(name) {
  if (!tokens.has(name)) {
    tokens.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  }
  return tokens.get(name);
}

// Calls `redraw` whenever the theme changes, by the system or by hand (js/theme.js announces both).
export function onThemeChange(redraw) {
  document.addEventListener("themechange", () => {
    tokens = new Map();
    redraw();
  });
}

export const isNarrow = () => innerWidth <= 720;
export const sequential = () => Array.from({length: 9}, (_, i) => [i / 8, token(`seq-${i}`)]);
export const hatch = color =>
  ({shape: "/", size: 5, solidity: 0.5, fgcolor: color, bgcolor: token("surface"), fillmode: "replace"});
export const note = options =>
  ({showarrow: false, font: {size: 11, color: token("c-tick"), family: token("font")}, ...options});

// Axis numbers that fit the values and the margin: 2 400, 12, 0.31, 1.5e-5, 1.8G. `most`: the largest value shown.
export function tickFormat(span, most = span) {
  if (Math.abs(most) >= 1e5) return ".4~s";
  if (!(span > 0)) return ".3~g";
  if (span >= 8) return ",.0f";
  if (span >= 0.8) return ".1f";
  if (span >= 0.08) return ".2f";
  return span >= 0.008 ? ".3f" : ".2~e";
}

const axis = () => ({
  gridcolor: token("c-grid"), gridwidth: 1, zeroline: false, ticks: "", automargin: false, fixedrange: true,
  tickfont: {size: 11, color: token("c-tick")}, separatethousands: true, hoverformat: ",.0f",
});

export function layout({xaxis = {}, yaxis = {}, margin = {}, ...rest} = {}) {
  return {
    font: {family: token("font"), size: 11, color: token("c-tick")},
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: token("surface"), showlegend: false, separators,
    hovermode: "x unified", dragmode: isNarrow() ? false : "zoom", ...rest,
    hoverlabel: {bgcolor: token("raise"), bordercolor: token("line-strong"),
      font: {size: 12, color: token("ink"), family: token("font")}},
    margin: {l: 44, r: 14, t: 10, b: 26, ...margin},
    xaxis: {...axis(), showgrid: false, showline: true, linecolor: token("c-axis"), fixedrange: isNarrow(),
      spikecolor: token("c-mark"), spikethickness: 1, spikedash: "solid", tickformat: ",d",
      unifiedhovertitle: {text: `${document.documentElement.dataset.step} %{x:,d}`}, nticks: isNarrow() ? 4 : 7, ...xaxis},
    yaxis: {...axis(), showgrid: true, nticks: 5, ticklabelstandoff: 6, ...yaxis},
  };
}

// An axis of steps says so on its first number: a title would take a line of every chart.
export const bySteps = () => ({tickprefix: `${document.documentElement.dataset.step} `, showtickprefix: "first"});

const library = new Promise(resolve => {
  if (window.Plotly) resolve();
  else document.getElementById("plotly").addEventListener("load", resolve);
});

// Draws or updates; resolves when the new picture stands.
export async function plot(element, traces, style, config = {}) {
  await library;
  return window.Plotly.react(element, traces, style,
    {displayModeBar: false, responsive: true, doubleClick: false, showTips: false, ...config});
}
