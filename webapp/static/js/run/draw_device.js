// Utilisation: one small tile per rank; the ranks that deviate most come first when there are many.
import {layout, plot, token} from "./chart_style.js";
import {isLate, last, quantile} from "./chart_range.js";
import {number, say} from "./words.js";

const MOST = 8;

export async function drawDevice(box, panel) {
  const names = chosen(box, panel.columns);
  arrange(box, names);
  const top = panel.unit === "%" ? 100 : Math.max(1e-9, quantile(names.flatMap(name => panel.columns[name]), 0.999));
  await Promise.all(names.map((name, i) => tile(box.children[i], panel, name, top)));
}

// The choice stays as long as the page does: tiles that change places cannot be read.
function chosen(box, columns) {
  const names = Object.keys(columns);
  if (names.length <= MOST) return names;
  const before = [...box.children].map(tile => tile.dataset.name);
  if (before.length === MOST && before.every(name => name in columns)) return before;
  const usual = quantile(names.map(name => last(columns[name])), 0.5);
  const distance = name => Math.abs(last(columns[name]) - usual) || 0;
  return names.sort((a, b) => distance(b) - distance(a)).slice(0, MOST);
}

function arrange(box, names) {
  if (String([...box.children].map(tile => tile.dataset.name)) === String(names)) return;
  box.classList.toggle("tiles--few", names.length <= 4);
  box.replaceChildren(...names.map(name => {
    const element = document.createElement("div");
    element.className = "tile";
    element.dataset.name = name;
    element.innerHTML = '<header><b></b><span></span></header><div class="tplot"></div>';
    element.querySelector("b").textContent = name;
    return element;
  }));
}

function tile(element, panel, name, top) {
  const y = bridged(panel.columns[name]), now = last(y), slow = panel.worst?.[0] === name && isLate(panel);
  const [value, unit] = readable(now, panel.unit);
  element.querySelector("span").textContent = Number.isFinite(now) ? `${value} ${unit}` : say("no_value");
  element.classList.toggle("slow", slow);
  const style = layout({margin: {l: 30, r: 0, t: 6, b: 8}, hovermode: false, dragmode: false,
    xaxis: {showticklabels: false}, yaxis: {range: [0, top * 1.08], tickvals: [0, top / 2, top],
      ticktext: ["0", "", readable(top, panel.unit)[0]]}});
  return plot(element.querySelector(".tplot"), [{x: panel.x, y, mode: "lines", fill: "tozeroy",
    fillcolor: token("c-band"), line: {width: 1.25, color: token(slow ? "lost" : "c-quiet")}}], style, {staticPlot: true});
}

// Ranks are sampled at their own seconds: one that another rank alone has is no gap.
const bridged = y => y.map((value, i) => Number.isFinite(value) ? value
  : Number.isFinite(y[i - 1]) && Number.isFinite(y[i + 1]) ? (y[i - 1] + y[i + 1]) / 2 : value);

function readable(value, unit) {
  if (unit !== "B" && unit !== "B/s") return [number(value, value < 10 && value % 1 ? 1 : 0), unit];
  const power = value > 0 ? Math.min(4, Math.floor(Math.log(value) / Math.log(1024))) : 0;
  const scaled = value / 1024 ** power;
  return [number(scaled, scaled < 10 && power ? 1 : 0), ["", "k", "M", "G", "T"][power] + unit];
}
