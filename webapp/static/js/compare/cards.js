// Cards that read and draw themselves once they come into view, and again when what they show changes.
import {ask} from "../run/ask.js";
import {say} from "../run/words.js";

// `kinds`: {kind: {query(card) -> [address, questions], draw(card, answer)}} by `data-card`.
export function cards(elements, kinds) {
  const answers = new Map(), near = new Set(), drawn = new Set(), reading = new Map();
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

  // Resolves once it is drawn. A card that is being read is not asked for twice.
  function show(card) {
    if (answers.has(card)) return draw(card);
    if (!reading.has(card)) {
      if (!drawn.has(card)) none(card, say("reading"));
      const shown = ask(...kinds[card.dataset.card].query(card)).then(answer => reading.get(card) === shown && take(card, answer));
      reading.set(card, shown);
    }
    return reading.get(card);
  }

  function take(card, answer) {
    reading.delete(card);
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
      for (const card of elements) if (card.dataset.card === kind) { answers.delete(card); reading.delete(card); }
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
