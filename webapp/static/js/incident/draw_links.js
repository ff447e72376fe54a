// What a megabyte costs on each link: sender in the row, receiver in the column.
import {layout, note, plot, sequential, token} from "../run/chart_style.js";
import {number, say} from "../run/words.js";

const MOST_TEXTS = 12; // nodes; of more the cells are too small for numbers

export function drawLinks(element, {nodes, z, unit}) {
  const known = z.flat().filter(Number.isFinite), most = Math.max(...known), usual = known.toSorted((a, b) => a - b)[known.length >> 1];
  const style = layout({hovermode: "closest", dragmode: false, margin: {l: 72, r: 8, t: 26, b: 26},
    xaxis: {side: "top", showline: false, type: "category", tickfont: {size: 12, color: token("ink-2")}, fixedrange: true},
    yaxis: {showgrid: false, autorange: "reversed", type: "category", tickfont: {size: 12, color: token("ink-2")}, ticksuffix: " "}});
  style.annotations = [...(nodes.length > MOST_TEXTS ? [] : texts(nodes, z, most)),
    note({xref: "paper", yref: "paper", x: 0, y: 0, yanchor: "top", yshift: -6, xanchor: "left", text: say("links_hint")})];
  return plot(element, [{type: "heatmap", x: nodes, y: nodes, z, zmin: 0, zmax: Math.max(most, 3 * usual), colorscale: sequential(),
    showscale: false, xgap: 3, ygap: 3, hoverongaps: false, hovertemplate: `%{y} → %{x}<br>%{z:,.1f} ${unit}<extra></extra>`}], style);
}

const texts = (nodes, z, most) => z.flatMap((row, i) => row.map((value, j) => note({x: nodes[j], y: nodes[i],
  text: value === null ? "–" : number(value, 1), font: {size: 13, family: token("font"),
    color: token(value === null ? "c-tick" : value > most / 2 ? "surface" : "ink")}})));
