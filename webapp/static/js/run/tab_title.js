// The browser tab: "43 % · name · Paceline" and a mark in the state's colour.
import {token} from "./chart_style.js";

const COLOR = {running: "accent", starting: "accent", queued: "ink-3", stopping: "warn", succeeded: "ok", failed: "crit",
  lost: "crit", stopped: "ink-3"};

export function showInTab(name, words, {status, outcome, progress}) {
  const state = outcome && status === "ended" ? outcome : status;
  document.title = `${status === "running" && progress ? `${progress} %` : words[state]} · ${name} · Paceline`;
  const color = token(COLOR[state] ?? "ink-3").replace("#", "%23");
  const bars = [[1, 3], [6, 3], [11, state === "running" ? 3 : 8], [16, 3]];
  const path = bars.map(([x, y]) => `M${x} ${y}h3v10h-3z`).join("");
  document.querySelector("link[rel=icon]").href = "data:image/svg+xml," +
    `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 20'><path fill='${color}' d='${path}'/></svg>`;
}
