// The run page: puts its parts together.
import {chartCards} from "./cards.js";
import {onThemeChange} from "./chart_style.js";
import {countDown} from "./countdown.js";
import {deviceCard} from "./device_card.js";
import {drawLoop} from "./draw_loop.js";
import {follow} from "./live.js";
import {heatPhases} from "./heat_phases.js";
import {lateTab} from "./late_tab.js";
import {logPane} from "./log_pane.js";
import {notesTab} from "./notes_tab.js";
import {panelFeed} from "./panel_feed.js";
import {pageParts} from "./parts.js";
import {showInTab} from "./tab_title.js";
import {tabs} from "./tabs.js";
import {valueCards} from "./value_cards.js";
import {viewWindow} from "./view_window.js";

const FACTS_MS = 2000; // while numbers come, speed, progress and ages are read again this often
const FILLED_MS = 2000; // a hole that is being filled is read again this often
const AHEAD_MS = 4000; // what is further down is read after this, to be there when the browser's own menu prints
const LINGER_MS = 3000; // a run that ended: time for its last frames before the stream closes
const config = JSON.parse(document.getElementById("run-config").textContent);
let state = {}, stream = null, ending = null, filling = null;

const view = viewWindow(() => readAgain());
const redraw = (ids, {failed} = {}) => {
  if (failed) ids.forEach(cards.fail);
  else (ids.includes("holes") ? [...cards.shownByStep(), ...ids] : ids).forEach(mark);
};
const feed = panelFeed(config, view, redraw);
const cards = chartCards(feed, view, () => state.status === "ended");
const mark = drawLoop(id => cards.draw(id), id => id.startsWith("device:") && cards.isDrawn(id));
const logs = logPane(config);
const devices = deviceCard(cards);
const values = valueCards(config, cards, devices);
const ledger = lateTab(config.urls.ledger, () => state.status !== "ended", "[data-ledger-none]");
const settings = lateTab(config.urls.config, () => state.status !== "ended", "[data-config-none]");
const madeOf = lateTab(config.urls.provenance, () =>
  state.status !== "ended" && document.querySelector("[data-made-waits]"), "[data-made-none]");
const artifacts = lateTab(config.urls.artifacts, () => false, "[data-artifacts-none]");
const notes = notesTab(config.urls.notes);
const parts = pageParts(config.urls.header, onState);

function readAgain() {
  feed.forget();
  feed.want([...cards.shownIds(), "holes"]);
}

// What came late is in the database by now; frames carry only the newest steps.
function onFilled() {
  filling ??= setTimeout(() => {
    filling = null;
    feed.want([...cards.shownByStep(), "holes"]);
  }, FILLED_MS);
}

function onState(next) {
  state = next;
  document.getElementById("run-page").dataset.state = next.status;
  showInTab(config.name, next);
  // A new attempt: whoever looked at the newest one follows.
  if (next.attempt !== config.newest && config.attempt === config.newest) return location.assign(location.pathname);
  if (next.status === "ended" && stream && !ending) ending = setTimeout(drawEnd, LINGER_MS);
}

// The last read comes after everything was stored: an attempt ends only after its last byte.
function drawEnd() {
  stream.end();
  readAgain();
  values.read();
  logs.refresh();
  ledger.read();
  settings.read();
  parts.soon();
}

function onFrame(frame) {
  if (frame.kind === "resync") { readAgain(); values.read(); logs.reload(); parts.soon(); }
  if (frame.kind === "state") parts.soon();
  if (frame.attempt !== config.attempt) return;
  if (frame.kind === "log") logs.grew(frame.ranks);
  if (frame.kind === "filled") onFilled();
  if (frame.kind === "panels") {
    values.notice(Object.keys(frame.panels));
    parts.soon(FACTS_MS);
    if (view.follows()) feed.apply(frame.panels, cards.shownIds());
  }
}

feed.want(["step_time", "phases", "holes"]); // before the browser has laid out what is in view
tabs(document.getElementById("run-page"), name => {
  ledger.shown(name === "ledger");
  notes.shown(name === "notes");
  settings.shown(name === "config");
  madeOf.shown(name === "config");
  artifacts.shown(name === "artifacts");
});
cards.watch(document.querySelectorAll("[data-panel]"));
values.read();
onThemeChange(() => {
  cards.outdate(); // no chart may wait with the other theme's colours
  cards.shownIds().forEach(mark);
  showInTab(config.name, state);
});
heatPhases(cards);
document.addEventListener("click", event => {
  const link = event.target.closest("[data-show-rank]");
  if (!link) return;
  logs.choose(link.dataset.showRank);
  location.hash = "logs";
});
document.querySelector("[data-attempts]")?.addEventListener("change", event =>
  location.assign(`${location.pathname}${event.target.value && `?attempt=${event.target.value}`}${location.hash}`));
setInterval(countDown, 500);
if (config.live) stream = follow(config.urls.live, config.cursor, onFrame);
setTimeout(cards.ahead, AHEAD_MS);
