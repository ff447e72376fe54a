// Where a step goes: the phases of the median rank, stacked in their fixed order; waiting is hatched.
import {hatch, layout, plot, token} from "./chart_style.js";
import {onsetMark} from "./onset.js";
import {peakLabel} from "./peak.js";
import {spanOf} from "./chart_range.js";
import {say} from "./words.js";

const PHASES = ["data", "forward", "backward", "exposed_comm", "optimizer", "other"];

export function drawPhases(element, panel, view) {
  const seen = PHASES.filter(phase => panel.columns[phase]?.some(Number.isFinite));
  const sums = panel.x.map((_, i) => seen.reduce((sum, phase) => sum + (panel.columns[phase][i] ?? 0), 0));
  const {range, peak} = spanOf(sums, sums, {zero: true});
  return plot(element, seen.map((phase, i) => area(phase, panel, i === seen.length - 1)),
    layout({shapes: onsetMark(view), annotations: peakLabel(peak, panel, view.range),
      xaxis: {range: view.range}, yaxis: {range, hoverformat: ",.1f"}}));
}

function area(phase, panel, top) {
  const color = token(`ph-${phase}`);
  const line = {width: top ? 1 : 0.75, color: token(top ? "c-quiet" : "surface")};
  const fill = phase === "exposed_comm" ? {fillpattern: {...hatch(color), solidity: 0.55}} : {};
  return {x: panel.x, y: panel.columns[phase], name: say(`phase_${phase}`), stackgroup: "a",
    stackgaps: "interpolate", mode: "lines", line,
    fillcolor: color, ...fill};
}
