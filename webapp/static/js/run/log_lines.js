// Log lines as rows. A row: {at, ranks: [0, 1], text, level, kind, count, lines: [[rank, text], …]}; see telemetry/logs.py.
import {say} from "./words.js";

const ICON = {err: "#s-fail", warn: "#s-warn"};
const clock = new Intl.DateTimeFormat("en-GB", {hour: "2-digit", minute: "2-digit", second: "2-digit"});

// "0–2, 5", or "launcher" for what the launcher of a node (rank -1 and below) says itself.
export function rankLabel(ranks) {
  if (ranks[0] < 0) return say("launcher");
  const spans = [];
  for (const rank of ranks) {
    const span = spans[spans.length - 1];
    if (span && rank === span[1] + 1) span[1] = rank;
    else spans.push([rank, rank]);
  }
  return spans.map(([from, to]) => from === to ? `${from}` : `${from}–${to}`).join(", ");
}

export function row(line, words) {
  const li = document.createElement("li");
  if (line.kind === "skipped") return skipped(li, line);
  if (line.level) li.className = line.level;
  const label = rankLabel(line.ranks);
  li.append(time(line.at), badge(label, line), icon(line), message(line, words));
  li.dataset.ranks = line.ranks.join(" ");
  return li;
}

// Lines that the node left out stand as a quiet rule where they would have been. The brackets are for a raw log.
function skipped(li, line) {
  li.className = "skipped";
  const text = line.text.replace(/^\[paceline: (.*)\]$/, "$1");
  li.append(badge(rankLabel(line.ranks), line), Object.assign(document.createElement("span"), {className: "m", textContent: text}));
  li.dataset.ranks = line.ranks.join(" ");
  return li;
}

function time(at) {
  const element = document.createElement("time");
  element.dateTime = new Date(at * 1000).toISOString();
  element.textContent = clock.format(at * 1000);
  return element;
}

function badge(label, line) {
  const span = document.createElement("span");
  span.className = `rk${line.level === "err" ? " rk--crit" : line.level === "warn" ? " rk--slow" : ""}`;
  span.textContent = label;
  span.title = say(line.ranks.length > 1 ? "from_ranks" : "from_rank", {ranks: label});
  return span;
}

function icon(line) {
  if (!ICON[line.level]) return document.createElement("span");
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "lv");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", say(line.level));
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", ICON[line.level]);
  svg.append(use);
  return svg;
}

function message(line, words) {
  const span = document.createElement("span");
  span.className = "m";
  span.append(...marked(line.text, words));
  if (line.count > 1 && line.lines?.length > 1) {
    const button = Object.assign(document.createElement("button"), {type: "button", className: "fold"});
    button.textContent = say("similar", {n: line.count});
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => toggle(button, line));
    span.prepend(button, " ");
  }
  return span;
}

function toggle(button, line) {
  const open = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!open));
  const item = button.closest("li");
  if (open) return item.querySelector("ol").remove();
  const list = document.createElement("ol");
  list.append(...line.lines.map(([rank, text]) => {
    const li = document.createElement("li");
    const who = Object.assign(document.createElement("span"), {className: "rk", textContent: rankLabel([rank])});
    li.append(who, Object.assign(document.createElement("span"), {className: "m", textContent: text}));
    return li;
  }));
  item.append(list);
}

// The text with every hit of `words` in a <mark>. A /pattern/ is the server's to match.
function marked(text, words) {
  if (!words || /^\/.+\/$/.test(words)) return [text];
  const parts = [], low = text.toLowerCase(), needle = words.toLowerCase();
  let from = 0;
  for (let at = low.indexOf(needle); at >= 0; at = low.indexOf(needle, from)) {
    const mark = document.createElement("mark");
    mark.textContent = text.slice(at, at + needle.length);
    parts.push(text.slice(from, at), mark);
    from = at + needle.length;
  }
  return [...parts, text.slice(from)];
}
