// A card for every key that the script logged; made as somebody scrolls or searches, never all at once.
import {remember, remembered} from "./address.js";
import {ask} from "./ask.js";
import {say} from "./words.js";

// `devices` is told which device metrics there are.
export function valueCards(config, cards, devices) {
  const box = document.querySelector("[data-values]"), form = document.querySelector("[data-value-search]");
  const more = document.querySelector("[data-values-more]"), template = document.querySelector("#value-card");
  const loss = document.querySelector("[data-panel-loss]"), over = document.querySelector("[data-over-ranks]");
  let page = 1, asked = 0, readAt = 0, typed = null;

  const read = async (number = 1) => {
    const mine = ++asked;
    readAt = performance.now();
    const found = await ask(config.urls.keys,
      {...(config.all ? {} : {attempt: config.attempt}), q: form.querySelector("input").value.trim(), page: number});
    if (mine !== asked || !found) return;
    page = number;
    devices(found.devices);
    if (found.loss && loss.dataset.lossKey !== found.loss) chooseLoss(found.loss);
    show(number === 1 ? found.keys : [...shownKeys(), ...found.keys], found);
  };
  const panelOf = key => `${over?.value || "value"}:${key}`;
  const chooseLoss = key => {
    loss.querySelector("h2").textContent = key === "loss" ? say("loss") : key;
    loss.dataset.lossKey = key;
    cards.change(loss, panelOf(key));
  };
  const shownKeys = () => [...box.children].map(card => card.dataset.key);
  const show = (keys, found) => {
    const old = new Map([...box.children].map(card => [card.dataset.key, card]));
    for (const [key, card] of old) if (!keys.includes(key)) { cards.drop(card); card.remove(); }
    const fresh = keys.filter(key => !old.has(key)).map(make);
    box.append(...fresh);
    cards.watch(fresh);
    box.closest("section").hidden = !found.total && !found.keys.length && found.all <= 1;
    form.hidden = found.all <= 8;
    if (over) placeOver(found);
    document.querySelector("[data-values-count]").textContent = say("keys_of", {shown: box.children.length, of: found.total});
    document.querySelector("[data-values-none]").hidden = found.total > 0;
    more.hidden = box.children.length >= found.total;
  };
  // One choice for all of them: beside their title, or on the only card there is.
  const placeOver = ({all}) => {
    over.hidden = !all;
    if (box.closest("section").hidden) loss.querySelector(".end").append(over);
    else document.querySelector("[data-values-count]").after(over);
  };
  const reduce = () => {
    loss.querySelector("[data-each-rank]").hidden = Boolean(over.value);
    for (const card of [loss, ...box.children]) cards.change(card, panelOf(card.dataset.key ?? card.dataset.lossKey));
  };
  const make = key => {
    const card = template.content.firstElementChild.cloneNode(true);
    card.dataset.key = key;
    card.dataset.panel = panelOf(key);
    // A name of blanks is shown in quotes, for there is something to see then.
    Object.assign(card.querySelector("h2"), {textContent: key.trim() ? key : JSON.stringify(key), title: key});
    card.querySelector("[data-plot]").setAttribute("aria-label", key);
    return card;
  };
  form.querySelector("input").value = remembered("key");
  form.addEventListener("submit", event => event.preventDefault());
  form.addEventListener("input", () => { clearTimeout(typed); typed = setTimeout(() => {
    remember({key: form.querySelector("input").value.trim()});
    read();
  }, 200); });
  more.addEventListener("click", () => read(page + 1));
  if (over) {
    over.value = [...over.options].some(({value}) => value === remembered("over")) ? remembered("over") : "";
    over.addEventListener("change", () => { remember({over: over.value}); reduce(); });
    reduce();
  }
  return {
    read,
    // A frame carries a key that has no card yet: look again soon; else now and then, as long as frames come.
    notice: ids => {
      const known = new Set([...shownKeys(), loss.dataset.lossKey].map(key => `value:${key}`));
      const unknown = ids.some(id => id.startsWith("value:") && !known.has(id));
      if (page === 1 && performance.now() > readAt + (unknown ? 3000 : 15000)) read();
    },
  };
}
