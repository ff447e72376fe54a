// The menu of metrics: found by name, since there may be thousands; choosing one adds its chart.
import {ask} from "../run/ask.js";
import {fill, say} from "../run/words.js";
import {go, state, uids} from "./state.js";

const WAIT_MS = 150;

export function metricMenu(menu, address) {
  const box = menu.querySelector("[data-find]"), place = menu.querySelector("[data-found]");
  const note = menu.querySelector("[data-note]");
  let timer = 0, asked = 0;

  async function find() {
    const mine = ++asked, answer = await ask(address, {runs: uids(), part: box.value.trim()});
    if (!answer || mine !== asked) return;
    const {found, total} = answer, fresh = found.filter(({name}) => !state.metrics.includes(name));
    place.replaceChildren(...fresh.map(choice));
    note.hidden = fresh.length > 0 && total <= found.length;
    note.textContent = fresh.length ? fill(menu.dataset.more, {shown: found.length, of: total}) : say("no_metric");
  }

  menu.addEventListener("toggle", () => {
    if (!menu.open) return;
    find();
    box.focus();
  });
  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(find, WAIT_MS);
  });
}

function choice({name, title, runs}) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "choice";
  for (const text of [title === name ? name : `${title} (${name})`, say("in_runs", {n: runs, of: state.runs.length})]) {
    const span = document.createElement("span");
    span.textContent = text;
    button.append(span);
  }
  button.addEventListener("click", () => go({metrics: [...state.metrics, name]}));
  return button;
}
