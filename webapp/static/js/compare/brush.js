// Choosing ranges on the axes of parallel coordinates: by dragging along one, or from the keyboard with two sliders each.
import {say} from "../run/words.js";
import {figure, hasRanges, isText, placesOfRange, rangeBetween, stepOf} from "./value_ranges.js";

export const MARGIN = {l: 44, r: 44, t: 44, b: 24}, BESIDE = 0.15, BEYOND = 0.06; // of the plot: px; axes, height outside of them
const REACH_PX = 14, LEAST_PX = 4; // beside an axis; a shorter drag is a click

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
  made.append(band, ...(hasRanges(one) ? [0, 1].map(end => slider(overlay, one.word, i, end)) : []));
  return made;
}

function slider(overlay, word, i, end) {
  const made = document.createElement("input");
  Object.assign(made, {type: "range", min: 0, max: 1, step: stepOf(bound.get(overlay).axes[i]), className: "sr"});
  made.addEventListener("input", () => {
    const {axes, ranges, change} = bound.get(overlay), places = placesOfRange(axes[i], ranges.get(word));
    places[end] = end ? Math.max(places[0], Number(made.value)) : Math.min(places[1], Number(made.value));
    change(word, rangeBetween(axes[i], ...places), true);
  });
  made.addEventListener("keydown", event => {
    if (event.key === "Escape") bound.get(overlay).change(word, null, true);
  });
  return made;
}

function mark(made, one, range) {
  const [from, to] = placesOfRange(one, range);
  made.classList.toggle("is-chosen", Boolean(range));
  made.style.setProperty("--from", String((from + BEYOND) / (1 + 2 * BEYOND)));
  made.style.setProperty("--to", String((to + BEYOND) / (1 + 2 * BEYOND)));
  made.querySelectorAll("input").forEach((input, end) => {
    input.value = String([from, to][end]);
    input.ariaLabel = say(end ? "range_to" : "range_from", {name: one.title});
    input.ariaValueText = range ? isText(one) ? range[end] : figure(range[end]) : say("range_all");
  });
}

// Listens around the plot rather than over it, so that the plot still tells what is pointed at.
function listen(overlay) {
  const box = overlay.parentElement;
  let drag = null;
  box.addEventListener("pointerdown", event => {
    const i = nearest(overlay, event);
    if (i < 0 || event.button) return;
    drag = {i, y: event.clientY, was: bound.get(overlay).ranges.get(bound.get(overlay).axes[i].word) ?? null, moved: false};
    box.setPointerCapture(event.pointerId);
  });
  box.addEventListener("pointermove", event => {
    if (!drag) return near(box, nearest(overlay, event) >= 0);
    drag.moved ||= Math.abs(event.clientY - drag.y) >= LEAST_PX;
    if (drag.moved) choose(overlay, drag, event, false);
  });
  box.addEventListener("pointerup", event => {
    if (!drag) return;
    if (drag.moved) choose(overlay, drag, event, true);
    else if (drag.was) bound.get(overlay).change(bound.get(overlay).axes[drag.i].word, null, true);
    overlay.children[drag.i].querySelector("input")?.focus({preventScroll: true}); // Escape clears it
    drag = null;
  });
  box.addEventListener("pointercancel", () => { drag = null; });
  box.addEventListener("pointerleave", () => near(box, false));
  box.addEventListener("touchmove", event => { if (drag) event.preventDefault(); }, {passive: false});
}

const near = (box, is) => box.classList.toggle("is-near", is);

function choose(overlay, {i, y}, event, done) {
  const {axes, change} = bound.get(overlay), area = overlay.getBoundingClientRect();
  const places = [y, event.clientY].map(at => (1 - (at - area.top) / area.height) * (1 + 2 * BEYOND) - BEYOND).sort((a, b) => a - b);
  change(axes[i].word, rangeBetween(axes[i], ...places), done);
}

// The axis under the pointer, -1 for none.
function nearest(overlay, {clientX, clientY}) {
  const area = overlay.getBoundingClientRect(), {axes} = bound.get(overlay);
  if (clientY < area.top || clientY > area.bottom) return -1;
  const i = Math.round((clientX - area.left) / area.width * (axes.length - 1 + 2 * BESIDE) - BESIDE);
  const box = overlay.children[i]?.getBoundingClientRect();
  return box && hasRanges(axes[i]) && Math.abs(clientX - box.left - box.width / 2) <= REACH_PX ? i : -1;
}
