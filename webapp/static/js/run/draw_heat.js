// Ranks by step: one row per rank (or bin of ranks), fixed range per phase, a wider gap between nodes.
import {bySteps, layout, note, plot, sequential, token} from "./chart_style.js";
import {isLate} from "./chart_range.js";
import {incidentRanks, shapeOf} from "./incident_ranks.js";
import {holeBands} from "./holes.js";
import {mark} from "./marks.js";
import {say} from "./words.js";

const LEAST_NODE_PX = 16; // lines between lower nodes would cover the map, and their names each other

export function drawHeat(element, panel, view) {
  const rows = panel.rows.map((_, i) => i);
  const [low, high] = panel.range, height = element.clientHeight - 32;
  const style = layout({
    hovermode: "closest", margin: {l: 62, t: 6}, xaxis: {...bySteps(), showline: false, range: view.range},
    yaxis: {showgrid: false, range: [rows.length - 0.5, -0.5], tickmode: "array", ...rowTicks(panel, height)}});
  // Lines, not the trace's own gaps: without those Plotly paints the whole map as one image, many times faster.
  const roomy = height / Math.max(1, panel.nodes.length) >= LEAST_NODE_PX, apart = height / rows.length > 8;
  const nodes = roomy ? panel.nodes : [], firsts = new Set(nodes.map(([, first]) => first));
  style.shapes = rows.slice(1).filter(row => apart || firsts.has(row)).map(row => lineAbove(row, firsts.has(row) ? 5 : 2));
  style.annotations = nodes.map(node => nodeLabel(node, height / rows.length));
  return plot(element, [...holeBands(view, [-0.5, rows.length - 0.5]), {
    type: "heatmap", x: panel.x, y: rows, z: panel.z, zmin: low, zmax: high > low ? high : low + 1,
    colorscale: sequential(), showscale: false, customdata: names(panel),
    hovertemplate: `${say("hover_rank")} %{customdata}, ${say("hover_step")} %{x:,d}<br>%{z:,.1f} ms<extra></extra>`,
  }], mark(style, {...view, onset: null}));
}

const names = panel => panel.rows.map(name => panel.x.map(() => name));

function rowTicks(panel, height) {
  const every = Math.ceil(panel.rows.length / Math.max(1, Math.floor(height / 14)));
  const shown = panel.rows.map((_, i) => i).filter(i => i % every === 0);
  const late = new Set(isLate(panel) ? (panel.worst ?? []).slice(0, 1) : []);
  const found = incidentRanks(), named = panel.rows.map((_, i) => i).filter(i => panel.rows[i] in found);
  const ticks = [...shown.filter(i => !named.some(at => at !== i && Math.abs(at - i) < every)), ...named.filter(i => !shown.includes(i))];
  return {tickvals: ticks, ticktext: ticks.map(i => panel.rows[i] in found ? marked(panel.rows[i], found[panel.rows[i]])
    : late.has(`rank ${panel.rows[i]}`) ? bold("warn", panel.rows[i]) : panel.rows[i])};
}

const bold = (tone, text) => `<b><span style="color:${token(tone)}">${text}</span></b>`;
const marked = (rank, tone) => bold(tone === "idle" ? "c-tick" : tone, `${shapeOf(tone)} ${rank}`);

const lineAbove = (row, width) => ({type: "line", xref: "paper", x0: 0, x1: 1, y0: row - 0.5, y1: row - 0.5,
  line: {color: token("surface"), width}});

function nodeLabel([name, first, final], rowHeight) {
  const room = Math.max(1, Math.floor(((final - first + 1) * rowHeight) / 5.6));
  return note({xref: "paper", x: 0, xanchor: "center", xshift: -48, y: (first + final) / 2, textangle: -90,
    text: name.length > room ? `${name.slice(0, Math.max(1, room - 1))}…` : name});
}
