// Printing: in light colours whatever the screen has, folded parts open, every chart drawn and as wide as the paper.
// A page with charts listens for two events. `drawall` leaves time: what is not read yet is read, and each listener adds
// what is to be waited for to the event's `detail`. `drawread` leaves none: what has been read is drawn at once.
const LONGEST_MS = 15_000;
const PAPER_PX = 700; // between the margins of A4, nearly
const root = document.documentElement;
let restore = [];

async function printAll() {
  const waits = [];
  document.dispatchEvent(new CustomEvent("drawall", { detail: waits }));
  await Promise.race([Promise.allSettled(waits), new Promise((done) => setTimeout(done, LONGEST_MS))]);
  print();
}

// Charts are laid out for the paper's width, so that their words keep their size. A drawing has no viewBox; with one
// the style for print can make it fit the margins that are really chosen.
function fitDrawings() {
  for (const plot of document.querySelectorAll(".plot.js-plotly-plot, .plot > * > .js-plotly-plot")) {
    window.Plotly.relayout(plot, { width: PAPER_PX, height: plot.clientHeight });
    restore.push(() => window.Plotly.relayout(plot, { autosize: true }));
  }
  for (const drawing of document.querySelectorAll(".main-svg")) {
    drawing.setAttribute("viewBox", `0 0 ${drawing.getAttribute("width")} ${drawing.getAttribute("height")}`);
    drawing.setAttribute("preserveAspectRatio", "xMinYMid");
    restore.push(() => ["viewBox", "preserveAspectRatio"].forEach((name) => drawing.removeAttribute(name)));
  }
}

function lighten() {
  const chosen = root.dataset.theme;
  if ((chosen || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "light") return;
  const change = (theme) => {
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
    document.dispatchEvent(new CustomEvent("themechange"));
  };
  change("light");
  restore.push(() => change(chosen));
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
  document.dispatchEvent(new CustomEvent("drawread"));
});
addEventListener("beforeprint", fitDrawings); // apart: charts are drawn between one listener and the next
addEventListener("afterprint", () => {
  restore.forEach((again) => again());
  restore = [];
});
document.addEventListener("click", (event) => event.target.closest("[data-print]") && printAll());
document.addEventListener("keydown", (event) => {
  if (event.key !== "p" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
  event.preventDefault();
  printAll();
});
