// The list of runs: ticks show and hide lines everywhere, pointing at a run brings its lines forward.
import {go, remember, state, visible} from "./state.js";

export function runList(list, changed, emphasise) {
  const rows = [...list.querySelectorAll("[data-run]")];

  function show() {
    for (const row of rows) {
      const hidden = state.hidden.has(row.dataset.run);
      row.classList.toggle("is-hidden", hidden);
      row.querySelector("[data-show]").checked = !hidden;
    }
    list.querySelector("[data-shown]").textContent = state.hidden.size ? `${visible().length} / ${rows.length}` : "";
  }

  function change(act) {
    act();
    remember();
    show();
    changed();
  }

  for (const row of rows) {
    const uid = row.dataset.run;
    row.querySelector("[data-show]").addEventListener("change", ({target}) =>
      change(() => target.checked ? state.hidden.delete(uid) : state.hidden.add(uid)));
    row.querySelector("[data-drop]").addEventListener("click", () =>
      go({runs: state.runs.map(run => run.uid).filter(one => one !== uid), hide: [...state.hidden].filter(one => one !== uid)}));
    row.addEventListener("pointerenter", () => emphasise(state.hidden.has(uid) ? "" : uid));
    row.addEventListener("pointerleave", () => emphasise(""));
  }
  list.querySelector("[data-all-runs]").addEventListener("click", () => change(() => state.hidden.clear()));
  list.querySelector("[data-no-runs]").addEventListener("click", () => change(() => rows.forEach(row => state.hidden.add(row.dataset.run))));
  show();
  if (innerWidth <= 1000) list.open = false;
}
