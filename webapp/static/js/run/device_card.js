// Which device metric the tiles show: the GPU's where there is one, else the process's processor time.
import {say} from "./words.js";

const ORDER = ["gpu/util", "gpu/memory", "gpu/power", "gpu/temperature", "gpu/sm_clock", "rank/cpu", "rank/rss"];

export function deviceCard(cards) {
  const card = document.querySelector("[data-panel^='device:']"), picker = card.querySelector("[data-devices]");
  let offered = "";

  const choose = name => {
    card.querySelector("[data-device-name]").textContent = say(`device_${name}`);
    picker.querySelectorAll("button").forEach(button =>
      button.setAttribute("aria-pressed", button.dataset.device === name));
    cards.change(card, `device:${name}`);
  };
  picker.addEventListener("click", event => {
    const button = event.target.closest("button");
    if (button) choose(button.dataset.device);
  });
  return names => {
    const known = ORDER.filter(name => names.includes(name));
    if (!known.length || String(known) === offered) return;
    offered = String(known);
    picker.replaceChildren(...known.map(name => Object.assign(document.createElement("button"),
      {type: "button", textContent: say(`device_short_${name}`)})));
    picker.querySelectorAll("button").forEach((button, i) => { button.dataset.device = known[i]; });
    picker.hidden = known.length < 2;
    choose(known[0]);
  };
}
