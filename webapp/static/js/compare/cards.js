// Cards that read and draw themselves once they come into view, and again when what they show changes.
import {ask} from "../run/ask.js";
import {say} from "../run/words.js";

// `kinds`: {kind: {query(card) -> [address, questions], draw(card, answer)}} by `data-card`.
export function cards(elements, kinds) {
  const answers = new Map(), near = new Set(), drawn = new Set(), asked = new Map();
  const watcher = new IntersectionObserver(entries => {
    for (const {target, isIntersecting} of entries) {
      if (!isIntersecting) near.delete(target);
      else if (!near.has(target)) {
        near.add(target);
        show(target);
      }
    }
  }, {rootMargin: "200px"});
  elements.forEach(card => watcher.observe(card));
  document.addEventListener("drawall", ({detail}) => detail.push(rest()));
  document.addEventListener("drawread", () => elements.filter(card => answers.has(card)).forEach(draw));

  async function show(card) {
    if (answers.has(card)) return draw(card);
    const mine = (asked.get(card) ?? 0) + 1;
    asked.set(card, mine);
    const question = kinds[card.dataset.card].query(card);
    if (!drawn.has(card)) none(card, say("reading"));
    const answer = await ask(...question);
    if (asked.get(card) !== mine) return;
    if (!answer) return none(card, say("failed"));
    drawn.add(card);
    answers.set(card, answer);
    return draw(card);
  }

  function draw(card) {
    const answer = answers.get(card), told = card.querySelector("[data-finding]");
    if (told && answer.finding !== undefined) told.textContent = answer.finding;
    for (const old of card.querySelectorAll(".plot__none")) old.remove();
    for (const place of card.querySelectorAll("[data-plot]")) place.hidden = false;
    return kinds[card.dataset.card].draw(card, answer);
  }

  // One after the other, so that what is in view comes first.
  async function rest() {
    for (const card of elements) if (!answers.has(card)) await show(card);
  }

  return {
    redraw: (kind = "") => [...near].filter(card => answers.has(card) && (!kind || card.dataset.card === kind)).forEach(draw),
    reread: kind => {
      for (const card of elements) if (card.dataset.card === kind) answers.delete(card);
      [...near].filter(card => card.dataset.card === kind).forEach(show);
    },
    rest,
  };
}

// A sentence in the place of a chart that has nothing to show.
export function none(card, text) {
  const places = [...card.querySelectorAll("[data-plot]")];
  places.forEach(place => { place.hidden = true; });
  card.querySelector(".plot__none")?.remove();
  const said = document.createElement("p");
  said.className = "plot__none";
  said.textContent = text;
  places[0].after(said);
}
