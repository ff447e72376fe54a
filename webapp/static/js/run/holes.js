// Holes: steps that were made and are not stored. Each is a hatched band that says why; no line may span it. Pure but for
// the colours. A hole: {from, to, ranks: [3], reason, text}, in the script's own steps; see docs/wire.md.
import {token} from "./chart_style.js";

const MOST = 60, LEAST_SHARE = 1 / 300; // bands of one chart; and how wide one is at least, of the chart
const LINE_LETTERS = 46;

// The panel with a gap where it has nothing of a hole, so that lines and heatmaps break there.
export function broken(panel, holes) {
  const known = new Set(panel.x), has = stored(panel);
  const added = [...new Set(holes.filter(hole => isEmptyIn(has, hole)).flatMap(({from, to}) => [from, to]))]
    .filter(x => !known.has(x));
  if (!added.length) return panel;
  const order = [...panel.x.map((x, i) => [x, i]), ...added.map(x => [x, -1])].sort((a, b) => a[0] - b[0]);
  const placed = values => order.map(([, i]) => i < 0 ? null : values[i]);
  const gapped = {...panel, x: order.map(([x]) => x)};
  if (panel.z) gapped.z = panel.z.map(placed);
  if (panel.columns) {
    gapped.columns = Object.fromEntries(Object.entries(panel.columns).map(([name, y]) => [name, placed(y)]));
  }
  return gapped;
}

// Index ranges [first, end) of rows that have a number, for what must not be drawn across a gap.
export function pieces(panel) {
  const columns = Object.values(panel.columns), found = [];
  let first = null;
  panel.x.forEach((_, i) => {
    const has = columns.some(y => Number.isFinite(y[i]));
    if (has && first === null) first = i;
    if (!has && first !== null) { found.push([first, i]); first = null; }
  });
  return first === null ? found : [...found, [first, panel.x.length]];
}

// The field from least to greatest, one pair of traces for each piece: a fill would go on across a gap.
export const band = (panel, min, max) => pieces(panel).flatMap(([first, end]) => {
  const edge = (y, more) => ({x: panel.x.slice(first, end), y: y.slice(first, end), mode: "lines", line: {width: 0},
    hoverinfo: "skip", ...more});
  return [edge(min), edge(max, {fill: "tonexty", fillcolor: token("c-band")})];
});

// One trace of hatched bands, grey where the steps may still come, from `low` to `high`; none when there is no hole in the window.
export function holeBands(view, [low, high]) {
  const shown = inRange(view), least = (view.range[1] - view.range[0]) * LEAST_SHARE;
  if (!shown.length) return [];
  const colors = shown.map(({reason}) => token(reason === "pending" ? "c-quiet" : "lost"));
  return [{
    type: "bar", name: "", x: shown.map(({from, to}) => (from + to) / 2), base: low, y: shown.map(() => high - low),
    width: shown.map(({from, to}) => Math.max(least, to - from + 1)), showlegend: false,
    marker: {color: token("surface"), opacity: 0.75, line: {width: 0},
      pattern: {shape: "/", size: 6, solidity: 0.25, fgcolor: colors, bgcolor: token("surface"), fillmode: "replace"}},
    customdata: shown.map(({texts}) => texts.map(wrapped).join("<br>")), hovertemplate: "%{customdata}<extra></extra>",
  }];
}

// Their sentences, for who cannot point at them.
export const holeTexts = view => inRange(view).flatMap(({texts}) => texts).slice(0, 5).join(" ");

export function wrapped(text) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines[lines.length - 1];
    if (line && line.length + word.length >= LINE_LETTERS) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return lines.join("<br>");
}

// In the window; holes of several nodes over the same steps are one band.
function inRange({holes, range}) {
  const found = new Map();
  for (const {from, to, reason, text} of holes) {
    if (to < range[0] || from > range[1]) continue;
    const band = found.get(`${from} ${to}`) ?? {from, to, reason, texts: []};
    if (band.reason === "pending") band.reason = reason;
    band.texts.push(text);
    found.set(`${from} ${to}`, band);
  }
  return [...found.values()].slice(-MOST);
}

// The steps of which the panel has a number; one that is there without any stands for a gap.
export function stored({x, columns, z, nonfinite = {}}) {
  const rows = [...Object.values(columns ?? {}), ...(z ?? [])];
  return x.filter((step, i) => step in nonfinite || rows.some(y => Number.isFinite(y[i])));
}

const isEmptyIn = (x, {from, to}) => x[0] < from && x[x.length - 1] > to && !x.some(step => step >= from && step <= to);
