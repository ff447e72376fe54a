// Printing: in light colours whatever the screen has, folded parts open, and charts as wide as the paper. A chart's
// drawing has a size in pixels but no viewBox; with one the style for print can make it fit.
const root = document.documentElement;
let restore = [];

function fitDrawings() {
  for (const drawing of document.querySelectorAll(".main-svg")) {
    drawing.setAttribute("viewBox", `0 0 ${drawing.getAttribute("width")} ${drawing.getAttribute("height")}`);
    drawing.setAttribute("preserveAspectRatio", "xMinYMid");
    restore.push(() => ["viewBox", "preserveAspectRatio"].forEach((name) => drawing.removeAttribute(name)));
  }
}

function lighten() {
  const chosen = root.dataset.theme;
  root.dataset.theme = "light";
  restore.push(() => { if (chosen) root.dataset.theme = chosen; else delete root.dataset.theme; });
}

function unfold() {
  for (const part of document.querySelectorAll("main details:not([open]):not([data-menu])")) {
    part.open = true;
    restore.push(() => { part.open = false; });
  }
}

addEventListener("beforeprint", () => {
  lighten();
  unfold();
  fitDrawings();
});
addEventListener("afterprint", () => {
  restore.forEach((again) => again());
  restore = [];
});
