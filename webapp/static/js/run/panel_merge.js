import {mergeGhosts} from "./ghosts.js";

// Panels are merged by x: what is new replaces what was, nulls never overwrite a number. Pure.
const positions = x => new Map(x.map((value, i) => [value, i]));

export function merge(panel, delta) {
  if (!panel) return delta;
  const x = [...new Set([...panel.x, ...delta.x])].sort((a, b) => a - b);
  const before = positions(panel.x), now = positions(delta.x);
  const join = (old, fresh) => x.map(at => fresh?.[now.get(at)] ?? old?.[before.get(at)] ?? null);
  const merged = {...panel, ...delta, x, points: x.length};
  merged.of = panel.of + x.length - panel.x.length; // a delta counts only itself
  if (panel.z) merged.z = panel.z.map((row, i) => join(row, delta.z?.[i]));
  if (panel.columns) merged.columns = joinColumns(panel.columns, delta.columns ?? {}, join);
  if (panel.ghosts || delta.ghosts) merged.ghosts = mergeGhosts(panel.ghosts, delta.ghosts);
  if (panel.nonfinite) merged.nonfinite = {...panel.nonfinite, ...delta.nonfinite};
  return merged;
}

// Only x within the newest `span` units; bounds the memory of a page that stays open.
export function keepNewest(panel, span) {
  const from = panel.x.findIndex(x => x > panel.x[panel.x.length - 1] - span);
  if (from <= 0) return panel;
  const cut = values => values.slice(from);
  const kept = {...panel, x: cut(panel.x), points: panel.x.length - from, of: panel.of - from};
  if (panel.z) kept.z = panel.z.map(cut);
  if (panel.columns) kept.columns = Object.fromEntries(Object.entries(panel.columns).map(([k, v]) => [k, cut(v)]));
  return kept;
}

// A delta that does not fit what is drawn (other rows, other worst ranks) asks for a new read.
export function fits(panel, delta) {
  if (panel.rows && String(panel.rows) !== String(delta.rows)) return false;
  return Object.keys(delta.columns ?? {}).every(name => name in panel.columns) || panel.x.length < 2;
}

function joinColumns(old, fresh, join) {
  const names = new Set([...Object.keys(old), ...Object.keys(fresh)]);
  return Object.fromEntries([...names].map(name => [name, join(old[name], fresh[name])]));
}
