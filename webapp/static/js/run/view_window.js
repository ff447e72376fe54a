// Which steps the charts show: the newest 300 or 1,000, all, or a range that somebody dragged. Lives in the address.
import {onBack, remember} from "./address.js";

export function viewWindow(changed) {
  const inUse = () => read(new URLSearchParams(location.search));
  let state = inUse();

  const set = next => {
    state = next;
    remember({window: "", lo: "", hi: "", ...inAddress(state)});
    show(state);
    changed();
  };
  onBack(() => {
    if (JSON.stringify(inUse()) !== JSON.stringify(state)) set(inUse());
  });
  document.querySelectorAll("[data-window]").forEach(button => button.addEventListener("click", () =>
    set(button.dataset.window === "all" ? {} : {last: Number(button.dataset.window)})));
  document.querySelector("[data-window-live]").addEventListener("click", () => set({last: 300}));
  show(state);
  return {
    zoom: (lo, hi) => set({lo: Math.floor(lo), hi: Math.ceil(hi)}),
    release: () => { if (state.lo !== undefined) set({last: 300}); },
    query: () => state,
    // The newest steps to keep; null when the view does not slide.
    span: () => state.last ?? null,
    follows: () => state.lo === undefined,
    rangeOf: panel => range(state, panel),
  };
}

function read(query) {
  const lo = Number(query.get("lo")), hi = Number(query.get("hi"));
  if (query.has("lo") && query.has("hi") && hi >= lo) return {lo, hi};
  if (query.get("window") === "all") return {};
  return {last: Number(query.get("window")) === 1000 ? 1000 : 300};
}

function inAddress(state) {
  if (state.lo !== undefined) return {lo: state.lo, hi: state.hi};
  if (state.last === 300) return {};
  return {window: state.last ?? "all"};
}

function range(state, panel) {
  if (state.lo !== undefined) return [state.lo, state.hi];
  if (!panel?.x.length) return null;
  const first = panel.x[0], final = panel.x[panel.x.length - 1];
  return [state.last ? Math.max(first, final - state.last + 1) : first, Math.max(final, first + 1)];
}

function show(state) {
  const chosen = state.lo !== undefined ? "" : String(state.last ?? "all");
  document.querySelectorAll("[data-window]").forEach(button =>
    button.setAttribute("aria-pressed", button.dataset.window === chosen));
  document.querySelector("[data-window-live]").hidden = state.lo === undefined;
}
