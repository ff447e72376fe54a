// Ghosts: what an attempt made and a later one made again. A faint dashed line below the numbers that count.
import {token} from "./chart_style.js";
import {quantile} from "./chart_range.js";
import {say} from "./words.js";

// A line for each ghost of the panel: [{attempt, x, y}], y in the panel's unit.
export const ghostLines = panel => (panel.ghosts ?? []).map(({attempt, x, y}) => ({
  x, y, name: say("ghost", {attempt}), mode: "lines", connectgaps: false, opacity: 0.75,
  line: {width: 1, dash: "7px,4px", color: token("c-quiet")}}));

// The range, made so large that ghosts are in the picture too (their lone spikes need not be).
export function withGhosts([low, high], panel) {
  const all = (panel.ghosts ?? []).flatMap(({y}) => y);
  const most = quantile(all, 0.97), least = quantile(all, 0.03);
  if (!Number.isFinite(most)) return [low, high];
  const pad = (high - low) * 0.04;
  return [Math.min(low, least >= 0 && low >= 0 ? Math.max(0, least - pad) : least - pad), Math.max(high, most + pad)];
}

// Two ghosts of one attempt are one; new numbers replace old ones.
export function mergeGhosts(old, fresh) {
  const found = new Map((old ?? []).map(ghost => [ghost.attempt, new Map(ghost.x.map((x, i) => [x, ghost.y[i]]))]));
  for (const {attempt, x, y} of fresh ?? []) {
    const points = found.get(attempt) ?? new Map();
    x.forEach((at, i) => points.set(at, y[i] ?? points.get(at) ?? null));
    found.set(attempt, points);
  }
  return [...found].map(([attempt, points]) => {
    const x = [...points.keys()].sort((a, b) => a - b);
    return {attempt, x, y: x.map(at => points.get(at))};
  });
}
