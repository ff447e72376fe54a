// The page of an incident: its charts, read again while it is open and somebody looks.
import {ask} from "../run/ask.js";
import {onThemeChange} from "../run/chart_style.js";
import {drawDevice} from "../run/draw_device.js";
import {drawHeat} from "../run/draw_heat.js";
import {drawPhases} from "../run/draw_phases.js";
import {say} from "../run/words.js";
import {drawAgainst} from "./draw_against.js";
import {drawBars} from "./draw_bars.js";
import {drawLinks} from "./draw_links.js";
import {keysOf} from "./keys.js";

const DRAW = {own: drawAgainst, before: drawAgainst, transfer: drawAgainst, parts: drawBars, parts_before: drawBars,
  links: drawLinks, heat: drawHeat, phases: drawPhases, device: drawDevice};
const AGAIN_MS = 5000;
const config = JSON.parse(document.getElementById("incident-config").textContent);
const cards = [...document.querySelectorAll("[data-chart]")];
const kind = id => id.split(":", 1)[0];
let answer = null;

async function read() {
  const came = await ask(config.panels);
  if (came) answer = came;
  await draw();
}

const draw = () => Promise.all(cards.map(card => drawCard(card, answer?.panels[card.dataset.chart])));

async function drawCard(card, panel) {
  const plot = card.querySelector("[data-plot]");
  if (!panel || isEmpty(panel)) return empty(card, say(answer ? "nothing" : "charts_not_read"));
  card.querySelector("[data-empty]")?.remove();
  tell(card, panel);
  if (kind(panel.id) === "device") plot.classList.add("tiles");
  try {
    await DRAW[kind(panel.id)](plot, panel, viewOf(panel));
    card.dataset.drawn = "true";
  } catch (error) {
    console.error(`chart ${panel.id} was not drawn`, error);
  }
}

const isEmpty = panel => !(panel.rows ?? panel.nodes ?? panel.x)?.length || Boolean(panel.x && !panel.x.length);

function viewOf({x, rows, nodes}) {
  const range = x ? [x[0] - (rows && nodes ? 0.5 : 0), Math.max(x[x.length - 1], x[0] + 1) + (rows && nodes ? 0.5 : 0)] : [0, 1];
  return {range, onset: answer.onset, begins: [], holes: [], bad: config.bad};
}

function tell(card, panel) {
  const parts = panel.finding ?? [], words = parts.map(([text]) => text).join("");
  card.querySelector("[data-finding]").replaceChildren(...parts.map(([text, level]) => level ? strong(text, level) : text));
  if (words) card.querySelector("[data-plot]").setAttribute("aria-label", words);
  card.querySelector("[data-keys]").replaceChildren(...keysOf(panel, config.bad));
}

function strong(text, level) {
  const element = document.createElement("b");
  element.className = `t-${level}`;
  element.textContent = text;
  return element;
}

function empty(card, text) {
  const plot = card.querySelector("[data-plot]");
  const note = plot.querySelector("[data-empty]") ?? plot.appendChild(document.createElement("p"));
  note.dataset.empty = "";
  note.className = "plot__empty";
  note.textContent = text;
}

read();
onThemeChange(draw);
if (config.live) setInterval(() => { if (!document.hidden) read(); }, AGAIN_MS);
