// Choosing ranges on the axes of parallel coordinates. Dragging along an axis makes one, dragging its edge changes it,
// dragging the rest of it moves it; from the keyboard there is a slider for each of the three.
import {say} from "../run/words.js";
import {figure, hasRanges, isText, moved, placesOfRange, rangeBetween, stepOf} from "./value_ranges.js";

export const MARGIN = {l: 44, r: 44, t: 44, b: 24}, BESIDE = 0.15, BEYOND = 0.06; // of the plot: px; axes, height outside of them
const LEAST_PX = 4; // a shorter drag is a click
const REACH_PX = {mouse: {axis: 14, edge: 8}, finger: {axis: 22, edge: 14}}; // beside an axis; around an edge
const FROM = 0, TO = 1, WHOLE = 2; // the sliders of an axis

const bound = new WeakMap(); // of each overlay what its listeners need of the newest drawing

// `change(word, range, done)`: range null clears; not `done` while it is still dragged.
export function drawBrushes(overlay, axes, ranges, change) {
  const words = axes.map(({word}) => word).join("\n");
  if (!bound.has(overlay)) listen(overlay);
  bound.set(overlay, {axes, ranges, change});
  if (overlay.dataset.words !== words) {
    overlay.dataset.words = words;
    overlay.replaceChildren(...axes.map((one, i) => brush(overlay, one, i)));
  }
  axes.forEach((one, i) => mark(overlay.children[i], one, ranges.get(one.word)));
}

function brush(overlay, one, i) {
  const made = document.createElement("div"), band = document.createElement("i");
  const {axes} = bound.get(overlay);
  made.className = "brush";
  made.style.setProperty("--at", String((i + BESIDE) / (axes.length - 1 + 2 * BESIDE)));
  made.append(band, ...(hasRanges(one) ? [FROM, TO, WHOLE].map(part => slider(overlay, one.word, i, part)) : []));
  return made;
}

function slider(overlay, word, i, part) {
  const made = document.createElement("input");
  Object.assign(made, {type: "range", min: 0, max: 1, step: stepOf(bound.get(overlay).axes[i]), className: "sr"});
  made.addEventListener("input", () => {
    const {axes, ranges, change} = bound.get(overlay), [from, to] = placesOfRange(axes[i], ranges.get(word));
    const at = Number(made.value);
    const places = part === WHOLE ? moved(axes[i], [from, to], at - from) : part === TO ? [from, Math.max(from, at)] : [Math.min(to, at), to];
    change(word, rangeBetween(axes[i], ...places), true);
  });
  made.addEventListener("keydown", event => {
    if (event.key !== "Escape") return;
    bound.get(overlay).change(word, null, true);
    made.parentElement.querySelector("input").focus(); // the third slider has nothing to move now
  });
  return made;
}

function mark(made, one, range) {
  const [from, to] = placesOfRange(one, range);
  made.classList.toggle("is-chosen", Boolean(range));
  made.style.setProperty("--from", String((from + BEYOND) / (1 + 2 * BEYOND)));
  made.style.setProperty("--to", String((to + BEYOND) / (1 + 2 * BEYOND)));
  const said = range?.map(value => isText(one) ? value : figure(value));
  made.querySelectorAll("input").forEach((input, part) => {
    input.disabled = part === WHOLE && !range;
    input.max = String(part === WHOLE ? 1 - (to - from) : 1);
    input.value = String(part === TO ? to : from);
    input.ariaLabel = say(["range_from", "range_to", "range_whole"][part], {name: one.title});
    input.ariaValueText = !range ? say("range_all") : part === WHOLE ? said.join(" – ") : said[part];
  });
}

// Listens around the plot rather than over it, so that the plot still tells what is pointed at.
function listen(overlay) {
  const box = overlay.parentElement;
  let drag = null;
  box.addEventListener("pointerdown", event => {
    drag = event.button ? null : grip(overlay, event);
    if (drag) box.setPointerCapture(event.pointerId);
  });
  box.addEventListener("pointermove", event => {
    if (!drag) return hint(box, grip(overlay, event));
    drag.moved ||= Math.abs(event.clientY - drag.y) >= LEAST_PX;
    if (drag.moved) choose(overlay, drag, event, false);
  });
  box.addEventListener("pointerup", event => {
    if (!drag) return;
    const {axes, change} = bound.get(overlay);
    if (drag.moved) choose(overlay, drag, event, true);
    else if (drag.was) change(axes[drag.i].word, null, true);
    overlay.children[drag.i].querySelector("input")?.focus({preventScroll: true}); // Escape clears it
    drag = null;
    hint(box, grip(overlay, event));
  });
  box.addEventListener("pointercancel", () => { drag = null; });
  box.addEventListener("pointerleave", () => { if (!drag) hint(box, null); });
  box.addEventListener("touchmove", event => { if (drag) event.preventDefault(); }, {passive: false});
}

// For the pointer's shape.
function hint(box, found) {
  if (found) box.dataset.grip = found.part;
  else delete box.dataset.grip;
}

function choose(overlay, {i, at, part, was}, event, done) {
  const {axes, change} = bound.get(overlay), one = axes[i], now = placeAt(overlay, event);
  const places = part === "whole" ? moved(one, was, now - at) : [at, now].sort((a, b) => a - b);
  change(one.word, rangeBetween(one, ...places), done);
}

const placeAt = (overlay, {clientY}) => {
  const area = overlay.getBoundingClientRect();
  return (1 - (clientY - area.top) / area.height) * (1 + 2 * BEYOND) - BEYOND;
};

// What a drag from here would do, null for nothing: `part` of the axis `i` with a new range (from `at`), one edge (the
// other stays `at`) or the whole range `was` (which is held `at`).
function grip(overlay, event) {
  const reach = REACH_PX[event.pointerType === "mouse" ? "mouse" : "finger"], i = nearest(overlay, event, reach.axis);
  if (i < 0) return null;
  const {axes, ranges} = bound.get(overlay), range = ranges.get(axes[i].word), at = placeAt(overlay, event);
  const drag = {i, at, y: event.clientY, part: "new", was: null, moved: false};
  if (!range) return drag;
  const was = placesOfRange(axes[i], range), scale = overlay.getBoundingClientRect().height / (1 + 2 * BEYOND);
  const off = was.map(place => Math.abs(place - at) * scale), near = off[0] <= off[1] ? 0 : 1;
  const inside = at >= was[0] && at <= was[1] || off[near] <= LEAST_PX;
  const edge = inside ? Math.min(reach.edge, (was[1] - was[0]) * scale / 3) : reach.edge; // a low range can be held, too
  if (off[near] < edge) return {...drag, part: "edge", at: was[1 - near], was};
  return {...drag, part: inside ? "whole" : "new", was};
}

// The axis under the pointer, -1 for none.
function nearest(overlay, {clientX, clientY}, reach) {
  const area = overlay.getBoundingClientRect(), {axes} = bound.get(overlay);
  if (clientY < area.top || clientY > area.bottom) return -1;
  const i = Math.round((clientX - area.left) / area.width * (axes.length - 1 + 2 * BESIDE) - BESIDE);
  const box = overlay.children[i]?.getBoundingClientRect();
  return box && hasRanges(axes[i]) && Math.abs(clientX - box.left - box.width / 2) <= reach ? i : -1;
}
