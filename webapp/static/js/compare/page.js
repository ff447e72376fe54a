// The page of a comparison: tools, list and cards, bound together.
import {onThemeChange} from "../run/chart_style.js";
import {say} from "../run/words.js";
import {cards, none} from "./cards.js";
import {drawCurves} from "./draw_curves.js";
import {drawPhases, phaseKeys} from "./draw_phases.js";
import {drawScaling} from "./draw_scaling.js";
import {metricMenu} from "./metric_menu.js";
import {runList} from "./run_list.js";
import {remember, state, uids, visible} from "./state.js";
import {drawValues, watchMenus} from "./values_card.js";

const root = document.getElementById("compare");
const plotOf = (card, name = "") => card.querySelector(name ? `[data-plot=${name}]` : "[data-plot]");
const whole = root.querySelector("[data-whole]");
const SMOOTH_AFTER_MS = 120;
let emphasised = "";

const kinds = {
  curve: {
    query: card => [root.dataset.curve, {runs: uids(), metric: card.dataset.metric, axis: state.axis, smooth: state.smooth,
      ...(state.lo ? {lo: state.lo, hi: state.hi} : {}),
      width: Math.round(plotOf(card).clientWidth) || 600, ...(state.turned.includes(card.dataset.metric) ? {turned: 1} : {})}],
    draw: drawCurve,
  },
  phases: {query: () => [root.dataset.phases, {runs: uids()}], draw: drawPhaseCard},
  scaling: {query: () => [root.dataset.scaling, {runs: uids()}], draw: drawScalingCard},
  values: {
    query: () => [root.dataset.values, {runs: uids(), metrics: state.metrics.map(encodeURIComponent).join(",")}],
    draw: (card, answer) => drawValues(card, answer, () => none(card, say("few_dimensions"))),
  },
};

function drawCurve(card, answer) {
  card.querySelector("[data-unit]").textContent = [answer.unit, say(`by_${answer.axis}`)].filter(Boolean).join(" · ");
  const having = state.runs.filter(({uid}) => answer.lines[uid]), shown = visible();
  if (!having.length) return none(card, state.axis === "step" ? say("nothing") : say("no_times"));
  if (!shown.length) return none(card, say("none_hidden"));
  const lacking = zoomed() ? 0 : state.runs.length - having.length; // in a part, a run may be over
  if (lacking) card.querySelector("[data-finding]").textContent = `${answer.finding} ${say("lacks", {n: lacking, of: state.runs.length})}`.trim();
  const onZoom = part => { if (answer.axis === state.axis) zoom(part); }; // else another axis is on its way
  return drawCurves(plotOf(card), answer, shown, {log: state.log === "1", emphasised, zoom: zoomed(), onZoom});
}

const zoomed = () => state.lo ? [Number(state.lo), Number(state.hi)] : null;

// All curves show the same part, read anew: it has more points there than the whole has.
function zoom(part) {
  if (part && !(part[0] < part[1])) return;
  [state.lo, state.hi] = part ? part.map(x => String(Math.round(x * 10) / 10)) : ["", ""];
  whole.hidden = !part;
  remember();
  shown.reread("curve");
}

function drawPhaseCard(card, answer) {
  if (!answer.phases.length) return none(card, say("nothing"));
  phaseKeys(card.querySelector("[data-phase-keys]"), answer.phases);
  return drawPhases(plotOf(card), answer, visible());
}

function drawScalingCard(card, answer) {
  card.querySelector("[data-unit]").textContent = answer.unit;
  if (!answer.uids.length) return none(card, say("nothing"));
  return drawScaling({throughput: plotOf(card, "throughput"), efficiency: plotOf(card, "efficiency")}, answer, visible());
}

const shown = cards([...root.querySelectorAll("[data-card]")], kinds);

for (const button of root.querySelectorAll("[data-axis]")) {
  button.addEventListener("click", () => {
    state.axis = button.dataset.axis;
    for (const one of root.querySelectorAll("[data-axis]")) one.setAttribute("aria-pressed", String(one === button));
    zoom(null); // another axis has other numbers
  });
}
whole.hidden = !state.lo;
whole.addEventListener("click", () => zoom(null));

const slider = root.querySelector("[data-smooth]");
let timer = 0;
slider.addEventListener("input", () => {
  state.smooth = String(Number(slider.value));
  root.querySelector("[data-smooth-shown]").textContent = state.smooth;
  clearTimeout(timer);
  timer = setTimeout(() => {
    remember();
    shown.reread("curve");
  }, SMOOTH_AFTER_MS);
});

root.querySelector("[data-log]").addEventListener("click", ({currentTarget}) => {
  state.log = state.log === "1" ? "" : "1";
  currentTarget.setAttribute("aria-pressed", String(state.log === "1"));
  remember();
  shown.redraw("curve");
});

runList(root.querySelector("[data-runs]"), () => shown.redraw(), uid => {
  emphasised = uid;
  shown.redraw("curve");
});
// A report begins with the charts as they are drawn now.
document.querySelector("[data-report]")?.addEventListener("click", ({currentTarget}) => {
  const address = new URL(currentTarget.href);
  for (const name of ["axis", "smooth"]) address.searchParams.set(name, state[name]);
  currentTarget.href = address.href;
});
metricMenu(root.querySelector("[data-metrics]"), root.dataset.names);
watchMenus(root.querySelector("[data-card=values]"), () => shown.redraw("values"));
addEventListener("load", shown.rest); // few cards, all of them chosen: what is further down is there when it is printed
document.addEventListener("drawall", ({detail}) => {
  const settings = document.querySelector("#config[hx-trigger=revealed]:has([role=status])");
  if (!settings) return;
  detail.push(new Promise(done => settings.addEventListener("htmx:afterRequest", done, {once: true})));
  window.htmx.trigger(settings, "revealed");
});
onThemeChange(() => shown.redraw());
