// Holes: steps that were made and are not stored. Each is a hatched band that says why; no line may span it. Pure but for
// the colours. A hole: {from, to, ranks: [3], reason, text}, in the script's own steps; see docs/wire.md.
import {token} from "./chart_style.js";

const MOST = 60, LEAST_SHARE = 1 / 300; // bands of one chart; and how wide one is at least, of the chart
const LINE_LETTERS = 46;

// The panel with a gap where it has nothing of a hole, so that lines and heatmaps break there.
export function broken(panel, holes) {
  const known = new Set(panel.x);
  const added = [...new Set(holes.filter(hole => isEmptyIn(panel, hole)).flatMap(({from, to}) => [from, to]))]
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

// One trace of hatched bands from `low` to `high`; none when there is no hole in the window.
export function holeBands(view, [low, high]) {
  const shown = inRange(view), least = (view.range[1] - view.range[0]) * LEAST_SHARE;
  if (!shown.length) return [];
  const color = token("lost");
  return [{
    type: "bar", name: "", x: shown.map(({from, to}) => (from + to) / 2), base: low, y: shown.map(() => high - low),
    width: shown.map(({from, to}) => Math.max(least, to - from + 1)), showlegend: false,
    marker: {color: token("surface"), opacity: 0.75, line: {width: 0},
      pattern: {shape: "/", size: 6, solidity: 0.25, fgcolor: color, bgcolor: token("surface"), fillmode: "replace"}},
    customdata: shown.map(({text}) => wrapped(text)), hovertemplate: "%{customdata}<extra></extra>",
  }];
}

// Their sentences, for who cannot point at them.
export const holeTexts = view => inRange(view).map(({text}) => text).slice(0, 5).join(" ");

export function wrapped(text) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines[lines.length - 1];
    if (line && line.length + word.length >= LINE_LETTERS) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return lines.join("<br>");
}

const inRange = ({holes, range}) => holes.filter(({from, to}) => to >= range[0] && from <= range[1]).slice(0, MOST);

const isEmptyIn = ({x}, {from, to}) => x[0] < from && x[x.length - 1] > to && !x.some(step => step >= from && step <= to);
