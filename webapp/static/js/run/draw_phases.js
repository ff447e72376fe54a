// Where a step goes: the phases of the median rank, stacked in their fixed order; waiting is hatched.
import {bySteps, hatch, layout, plot, token} from "./chart_style.js";
import {ghostLines, withGhosts} from "./ghosts.js";
import {holeBands, pieces} from "./holes.js";
import {mark} from "./marks.js";
import {peakLabel} from "./peak.js";
import {spanOf} from "./chart_range.js";
import {say} from "./words.js";

const PHASES = ["data", "forward", "backward", "exposed_comm", "optimizer", "other"];

export function drawPhases(element, panel, view) {
  const seen = PHASES.filter(phase => panel.columns[phase]?.some(Number.isFinite));
  const sums = panel.x.map((_, i) => seen.reduce((sum, phase) => sum + (panel.columns[phase][i] ?? 0), 0));
  const {range: own, peak} = spanOf(sums, sums, {zero: true}), range = withGhosts(own, panel);
  const areas = pieces(panel).flatMap(piece => seen.map((phase, i) => area(phase, panel, piece, i === seen.length - 1)));
  return plot(element, [...areas, ...ghostLines(panel), ...holeBands(view, range)],
    mark(layout({annotations: peakLabel(peak, panel, view.range),
      xaxis: {...bySteps(), range: view.range}, yaxis: {range, hoverformat: ",.1f"}}), view));
}

function area(phase, panel, [first, end], top) {
  const color = token(`ph-${phase}`);
  const line = {width: top ? 1 : 0.75, color: token(top ? "c-quiet" : "surface")};
  const fill = phase === "exposed_comm" ? {fillpattern: {...hatch(color), solidity: 0.55}} : {};
  return {x: panel.x.slice(first, end), y: panel.columns[phase].slice(first, end), name: say(`phase_${phase}`),
    stackgroup: `from ${first}`, stackgaps: "interpolate", mode: "lines", line,
    fillcolor: color, ...fill};
}
