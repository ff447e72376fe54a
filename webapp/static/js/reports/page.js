// A report's charts: read and drawn when they come into view, and the rest after that, so that all are there on paper.
import {onThemeChange} from "../run/chart_style.js";
import {say} from "../run/words.js";
import {cards, none} from "../compare/cards.js";
import {drawCurves} from "../compare/draw_curves.js";
import {drawPhases, phaseKeys} from "../compare/draw_phases.js";
import {drawScaling} from "../compare/draw_scaling.js";

const plotOf = (card, name = "") => card.querySelector(name ? `[data-plot=${name}]` : "[data-plot]");
const runsOf = card => JSON.parse(card.querySelector("script[type='application/json']").textContent);
const query = card => [card.dataset.address, {width: Math.round(plotOf(card).clientWidth) || 600}];

const kinds = {
  curves: {query, draw: (card, answer) => {
    card.querySelector("[data-unit]").textContent = [answer.unit, say(`by_${answer.axis}`)].filter(Boolean).join(" · ");
    if (!Object.keys(answer.lines).length) return none(card, say("nothing"));
    return drawCurves(plotOf(card), answer, runsOf(card));
  }},
  phases: {query, draw: (card, answer) => {
    if (!answer.phases.length) return none(card, say("nothing"));
    phaseKeys(card.querySelector("[data-phase-keys]"), answer.phases);
    return drawPhases(plotOf(card), answer, runsOf(card));
  }},
  scaling: {query, draw: (card, answer) => {
    card.querySelector("[data-unit]").textContent = answer.unit;
    if (!answer.uids.length) return none(card, say("nothing"));
    return drawScaling({throughput: plotOf(card, "throughput"), efficiency: plotOf(card, "efficiency")}, answer, runsOf(card));
  }},
};

const shown = cards([...document.querySelectorAll("#report [data-card]")], kinds);
addEventListener("load", shown.rest);
onThemeChange(() => shown.redraw());
