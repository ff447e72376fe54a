// Ranges and places of labels: pure functions on numbers.
const finite = values => values.filter(Number.isFinite);

// Value below which the share `q` of `values` lies; NaN when there is none.
export function quantile(values, q) {
  const sorted = finite(values).sort((a, b) => a - b);
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] : NaN;
}

// y range that holds all values, but lets a lone spike (a first step that compiles) leave the picture instead of
// pressing everything else flat. `peak` is then [index, value] of the highest value outside. What lasts to the end of
// the window is no spike: it is what the picture is about.
export function spanOf(low, high, {zero = false} = {}) {
  const tops = finite(high), bottoms = finite(low);
  if (!tops.length) return {range: [0, 1], peak: null};
  const most = Math.max(...tops), usual = quantile(tops, 0.97), least = zero ? 0 : Math.min(...bottoms);
  const lasts = Math.min(...tops.slice(-3)) > 1.25 * usual;
  const cut = tops.length >= 20 && most > 2 * usual && usual > 0 && !lasts;
  const top = cut ? usual * 1.25 : most;
  const pad = Math.max((top - least) * 0.08, Math.abs(top) * 0.01, 1e-12);
  return {range: [zero ? 0 : least - pad, top + pad], peak: cut ? [high.indexOf(most), most] : null};
}

// Moves labels apart: `entries` [{y, …}] in data units to [{…, y, shift}], shift in pixels upwards.
// `height` is the plot's inner height in pixels, `gap` the least distance of two labels.
export function spread(entries, [low, high], height, gap = 14) {
  const scale = height / (high - low || 1);
  const placed = entries.map(entry => ({...entry, y: Math.min(high, Math.max(low, entry.y))}))
    .sort((a, b) => b.y - a.y).map(entry => ({...entry, px: (entry.y - low) * scale}));
  const want = placed.map(entry => entry.px);
  for (let i = 1; i < want.length; i++) want[i] = Math.min(want[i], want[i - 1] - gap);
  for (let i = want.length - 1; i >= 0; i--) {
    want[i] = Math.max(want[i], (want[i + 1] ?? -gap) + gap);
  }
  return placed.map((entry, i) => ({...entry, shift: want[i] - entry.px}));
}

// Whether the finding names a deviation; only then may a rank have colour.
export const isLate = panel => (panel.finding ?? []).some(([, level]) => level === "warn" || level === "crit");

export const last = values => {
  for (let i = values.length - 1; i >= 0; i--) if (Number.isFinite(values[i])) return values[i];
  return NaN;
};
