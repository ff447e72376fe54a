// Which phase the heat map shows. Lives in the address.
import {onBack, remember, remembered} from "./address.js";

const USUAL = "backward";

export function heatPhases(cards) {
  const box = document.querySelector("[data-heat-phases]"), card = box.closest("[data-panel]");

  const show = phase => {
    const button = box.querySelector(`[data-phase="${CSS.escape(phase)}"]`) ?? box.querySelector(`[data-phase="${USUAL}"]`);
    box.querySelectorAll("button").forEach(other => other.setAttribute("aria-pressed", other === button));
    if (card.dataset.panel !== `heat:${button.dataset.phase}`) cards.change(card, `heat:${button.dataset.phase}`);
  };
  box.addEventListener("click", event => {
    const phase = event.target.closest("button")?.dataset.phase;
    if (!phase) return;
    remember({phase: phase === USUAL ? "" : phase});
    show(phase);
  });
  onBack(() => show(remembered("phase") || USUAL));
  show(remembered("phase") || USUAL);
}
