// Charts of a report's file: in dark colours where the reader's system has them, and on a phone no zoom by touch, which
// would keep a finger from moving the page.
const root = document.documentElement, system = matchMedia("(prefers-color-scheme: dark)");
const inDark = JSON.parse(document.getElementById("dark").textContent);
const charts = [...document.querySelectorAll(".plotly-graph-div")].map(place => ({
  place, data: place.data, layout: structuredClone(place.layout),
}));

function turned(value, name = "") {
  if (Array.isArray(value)) return name === "x" || name === "y" ? value : value.map(one => turned(one, name));
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, turned(one, key)]));
  }
  return name.endsWith("color") ? inDark[value] ?? value : value;
}

function paint() {
  const dark = (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  for (const {place, data, layout} of charts) { // a copy of the layout: paper leaves its own width in what it gets
    window.Plotly.react(place, dark ? turned(data) : data, dark ? turned(layout) : structuredClone(layout));
  }
}

if (innerWidth <= 720) {
  for (const {layout} of charts) {
    Object.assign(layout, {dragmode: false});
    layout.xaxis.nticks = 4;
  }
}
if (system.matches || innerWidth <= 720) paint();
system.addEventListener("change", paint);
document.addEventListener("themechange", paint); // for paper
