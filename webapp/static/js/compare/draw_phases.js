// Where a step's time goes: one bar per run, phases in their fixed order, waiting hatched.
import {hatch, isNarrow, layout, plot, token} from "../run/chart_style.js";
import {say} from "../run/words.js";
import {escaped, short} from "./run_style.js";

const LEAST_PX = 24, MOST_PX = 48, USUAL_PX = 240, ROOM_PX = 44; // of a bar; of all bars while they are few; of the axis
const NARROW = 14; // letters of a name beside its bar

export function drawPhases(element, answer, runs) {
  const drawn = runs.filter(({uid}) => answer.runs[uid]).reverse();
  const barPx = Math.min(MOST_PX, Math.max(LEAST_PX, USUAL_PX / Math.max(1, drawn.length)));
  element.style.height = `${drawn.length * barPx + ROOM_PX}px`;
  const names = drawn.map(run => escaped(isNarrow() ? short(run.name, NARROW) : short(run.name)));
  return plot(element, answer.phases.map(phase => bar(phase, drawn, answer)), layout({
    barmode: "stack", bargap: 0.3, hovermode: "closest", dragmode: false, margin: {l: isNarrow() ? 96 : 152, t: 2},
    xaxis: {fixedrange: true, tickformat: ",~g", rangemode: "tozero", showgrid: true, gridcolor: token("c-grid")},
    yaxis: {tickmode: "array", tickvals: drawn.map((_, i) => i), ticktext: names, showgrid: false, range: [-0.6, drawn.length - 0.4]},
  }));
}

function bar(phase, drawn, answer) {
  const color = token(`ph-${phase}`);
  return {type: "bar", orientation: "h", name: say(`phase_${phase}`), y: drawn.map((_, i) => i),
    x: drawn.map(({uid}) => answer.runs[uid][phase] ?? 0), text: drawn.map(run => escaped(run.name)), textposition: "none",
    marker: {color, line: {color: token("surface"), width: 0.75},
      ...(phase === "exposed_comm" ? {pattern: {...hatch(color), solidity: 0.55}} : {})},
    hovertemplate: `%{text}<br>${say(`phase_${phase}`)}: %{x:,.1f} ms<extra></extra>`};
}

export function phaseKeys(list, phases) {
  list.replaceChildren(...phases.map(phase => {
    const item = document.createElement("li"), swatch = document.createElement("i");
    swatch.className = phase === "exposed_comm" ? "sw sw--hatch" : "sw";
    swatch.style.setProperty("--k", `var(--ph-${phase})`);
    item.append(swatch, say(`phase_${phase}`));
    return item;
  }));
}
