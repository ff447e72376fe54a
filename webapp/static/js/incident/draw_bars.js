// Each part of a step: the subject's bar over that of its ground; the part that makes the difference has colour.
import {layout, plot, token} from "../run/chart_style.js";
import {number, say} from "../run/words.js";

export function drawBars(element, {rows, subject, ground, hot, names}, view) {
  const labels = rows.map(part => say(`phase_${part}`)), most = Math.max(...subject, ...ground.map(value => value ?? 0));
  const strong = rows.map(part => part === hot ? 1 : 0.5);
  const bars = (values, name, color, offset, text) => ({type: "bar", orientation: "h", y: labels, x: values, name, width: 0.34,
    offset, marker: {color: token(color), opacity: strong}, text: values.map(value => value === null ? "" : number(value, value < 10 ? 1 : 0)),
    textposition: "outside", cliponaxis: false, hovertemplate: `%{x:,.1f} ms<extra>${name}</extra>`,
    textfont: {size: 11, family: token("font"), color: rows.map(part => token(part === hot ? text : "c-tick"))}});
  return plot(element, [bars(subject, names.subject, view.bad, -0.36, view.bad === "crit" ? "crit" : "warn"),
    bars(ground, names.ground, "c-quiet", 0.02, "ink-2")],
  layout({hovermode: "closest", barmode: "overlay", dragmode: false, margin: {l: 96, r: 44, t: 6},
    xaxis: {range: [0, most * 1.04 || 1], showgrid: true, showline: false, gridcolor: token("c-grid"), fixedrange: true},
    yaxis: {autorange: "reversed", showgrid: false, tickmode: "array", tickvals: labels, ticktext: labels,
      tickfont: {size: 12, color: token("ink-2"), family: token("font")}}}));
}
