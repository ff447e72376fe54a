// The browser tab: "43 % · name · Paceline", and the shape (parts/sprite.html) of the run's state in its colour, or of
// what is wrong with it while it runs.
import {token} from "./chart_style.js";

const COLOR = {run: "accent", idle: "ink-3"};

export function showInTab(name, {status, progress, shape, tone, word}) {
  document.title = `${status === "running" && progress ? `${progress} %` : word} · ${name} · Paceline`;
  const symbol = document.getElementById(shape);
  const colour = token(COLOR[tone] ?? tone);
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 12 12">${symbol.innerHTML}</svg>`
    .replaceAll("currentColor", colour).replaceAll("var(--surface)", token("surface"));
  document.querySelector("link[rel=icon]").href = `data:image/svg+xml,${encodeURIComponent(drawing)}`;
}
