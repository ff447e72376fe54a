// The chart cards: what is in view is read and drawn, the rest waits until somebody scrolls to it.
import {quantile} from "./chart_range.js";
import {drawBusbw, drawComm} from "./draw_comm.js";
import {drawDevice} from "./draw_device.js";
import {drawHeat} from "./draw_heat.js";
import {drawPhases} from "./draw_phases.js";
import {drawStepTime} from "./draw_step_time.js";
import {drawValue} from "./draw_value.js";
import {broken, holeTexts, stored} from "./holes.js";
import {say} from "./words.js";

const DRAW = {step_time: drawStepTime, phases: drawPhases, comm: drawComm, busbw: drawBusbw, heat: drawHeat,
  value: drawValue, device: drawDevice};
const OVER_RANKS = ["mean", "min", "max"]; // a logged value, reduced over its ranks
const kind = id => { const name = id.split(":", 1)[0]; return OVER_RANKS.includes(name) ? "value" : name; };

// `ended()`: whether the attempt is over, so that nothing more will come.
export function chartCards(feed, view, ended) {
  const shown = new Set(), known = new Set();
  const watcher = new IntersectionObserver(entries => {
    for (const {target, isIntersecting} of entries) {
      if (!isIntersecting) shown.delete(target);
      else if (!shown.has(target)) show(target);
    }
  }, {rootMargin: "120px"});
  const isRead = card => feed.get(card.dataset.panel);
  // On paper there is no scrolling to a chart: all are drawn, those of another tab excepted.
  const isOld = card => card.dataset.drawnStep !== String(isRead(card).x.at(-1));
  const drawRead = () => Promise.all([...known].filter(card => isRead(card) && isOld(card) && card.checkVisibility())
    .map(card => drawCard(card, feed, view, ended())));
  const rest = async () => {
    const isKept = card => isRead(card) && (shown.has(card) || ended()); // frames do not carry all of what is out of view
    await feed.want([...known].filter(card => !isKept(card) && card.checkVisibility()).map(card => card.dataset.panel));
    await drawRead();
  };
  document.addEventListener("drawall", ({detail}) => detail.push(rest()));
  document.addEventListener("drawread", drawRead);
  const show = card => {
    shown.add(card);
    if (isRead(card)) drawCard(card, feed, view, ended());
    else feed.want([card.dataset.panel]);
  };
  return {
    watch: cards => cards.forEach(card => { known.add(card); watcher.observe(card); }),
    // One small reply after the other; cards of logged values, of which there may be thousands, wait to be seen.
    ahead: async () => {
      for (const card of known) if (!isRead(card) && !card.dataset.key) await feed.want([card.dataset.panel]);
    },
    drop: card => { watcher.unobserve(card); shown.delete(card); known.delete(card); },
    shownIds: () => [...new Set([...shown].map(card => card.dataset.panel))],
    change: (card, id) => {
      card.dataset.panel = id;
      delete card.dataset.drawnStep;
      if (shown.has(card)) show(card);
    },
    outdate: () => known.forEach(card => { delete card.dataset.drawnStep; }),
    isDrawn: id => [...shown].some(card => card.dataset.panel === id && card.dataset.drawnStep),
    // Every chart by steps shows the holes.
    shownByStep: () => [...new Set([...shown].map(card => card.dataset.panel))].filter(id => kind(id) !== "device"),
    draw: id => Promise.all([...shown].filter(card => card.dataset.panel === id)
      .map(card => drawCard(card, feed, view, ended()))),
    fail: id => shown.forEach(card => { if (card.dataset.panel === id) empty(card, say("not_read")); }),
  };
}

async function drawCard(card, feed, view, ended) {
  const id = card.dataset.panel, panel = feed.get(id);
  if (!panel) return;
  tell(card, panel);
  if (!panel.x.length) {
    const started = feed.get("step_time")?.x.length || !view.follows();
    const inWindow = started && kind(id) !== "value" && kind(id) !== "device";
    return empty(card, say(inWindow ? "empty_window" : `${ended ? "never" : "empty"}_${kind(id)}`));
  }
  const plot = card.querySelector("[data-plot]");
  card.querySelector("[data-empty]")?.remove();
  try {
    const shown = {range: rangeFor(panel, feed, view), onset: feed.get("step_time")?.onset, begins: feed.begins(),
      holes: holesOf(panel, feed)};
    await DRAW[kind(id)](plot, kind(id) === "device" ? panel : broken(panel, shown.holes), shown);
    if (shown.holes.length) plot.setAttribute("aria-label", `${plot.getAttribute("aria-label")} ${holeTexts(shown)}`);
  } catch (error) {
    console.error(`chart ${id} was not drawn`, error);
    return;
  }
  if (!plot.dataset.zooms && kind(id) !== "device") listen(plot, view);
  card.dataset.drawnStep = panel.x[panel.x.length - 1];
}

// A value that is logged now and then is no hole in between; nor is what was logged within one.
function holesOf(panel, feed) {
  if (kind(panel.id) !== "value") return feed.holes();
  const has = stored(panel), apart = quantile(has.slice(1).map((x, i) => x - has[i]), 0.5) || 0;
  return feed.holes().filter(({from, to}) => to - from + 1 >= apart && !has.some(x => x >= from && x <= to));
}

// The same steps on every chart; a value with a step count of its own (an epoch) keeps its own.
function rangeFor(panel, feed, view) {
  const common = view.rangeOf(feed.get("step_time")) ?? view.rangeOf(panel);
  const last = panel.x[panel.x.length - 1];
  const range = last < common[0] || panel.x[0] > common[1] ? view.rangeOf(panel) : common;
  return panel.rows ? [range[0] - 0.5, range[1] + 0.5] : range;
}

function tell(card, panel) {
  const finding = card.querySelector("[data-finding]"), plot = card.querySelector("[data-plot]");
  const spans = panel.x.length ? panel.finding ?? [] : [];
  const words = spans.map(([text]) => text).join("");
  if (finding && finding.title !== words) {
    finding.title = words;
    finding.replaceChildren(...spans.map(([text, level]) => level ? strong(text, level) : text));
  }
  plot.setAttribute("aria-label", words || card.querySelector("h2, b").textContent);
  const ghostKey = card.querySelector("[data-ghost-key]");
  if (ghostKey) ghostKey.hidden = !panel.ghosts?.length;
  const reduction = card.querySelector("[data-reduction]");
  if (reduction) reduction.textContent = reductionText(panel);
  const ramp = card.querySelectorAll("[data-ramp]");
  card.classList.toggle("is-empty", !panel.x.length);
  if (ramp.length) panel.range.forEach((value, i) => { ramp[i].textContent = `${Math.round(value)}${i ? " ms" : ""}`; });
}

function reductionText({id, reduction, points, of, columns}) {
  if (!points) return "";
  const tiles = kind(id) === "device" && Object.keys(columns).length > 8
    ? say("tiles_shown", {shown: 8, of: Object.keys(columns).length}) : reduction;
  return [tiles, say("points_of", {points, of: Math.max(of ?? 0, points)})].filter(Boolean).join(" · ");
}

function strong(text, level) {
  const b = document.createElement("b");
  if (level === "warn" || level === "crit") b.className = `t-${level}`;
  b.textContent = text;
  return b;
}

function empty(card, text) {
  const plot = card.querySelector("[data-plot]");
  if (plot.classList.contains("js-plotly-plot")) window.Plotly.purge(plot);
  let line = card.querySelector("[data-empty]");
  if (!line) {
    line = Object.assign(document.createElement("p"), {className: "plot__empty"});
    line.dataset.empty = "";
    plot.append(line);
  }
  line.textContent = text;
}

function listen(plot, view) {
  plot.dataset.zooms = "yes";
  plot.on("plotly_relayout", change => {
    const lo = change["xaxis.range[0]"], hi = change["xaxis.range[1]"];
    if (lo !== undefined && hi - lo >= 1) view.zoom(lo, hi);
  });
  plot.on("plotly_doubleclick", () => { view.release(); return false; });
}
