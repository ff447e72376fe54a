// What every chart by steps shows beside its numbers: where a rank became late, and where each attempt begins.
import {note, token} from "./chart_style.js";
import {onsetMark} from "./onset.js";
import {say} from "./words.js";

const TICK_PX = 6;

// `named`: the ticks say "attempt 2", else "2" alone.
export function mark(style, view, {named = false} = {}) {
  const [first, final] = view.range, edge = (final - first) * 0.005;
  const begins = view.begins.filter(([, step]) => step > first + edge && step < final);
  style.shapes = [...(style.shapes ?? []), ...onsetMark(view), ...begins.map(([, step]) => tick(step))];
  style.annotations = [...(style.annotations ?? []), ...begins.map(([number, step]) => label(number, step, named))];
  if (begins.length) style.margin = {...style.margin, t: Math.max(20, style.margin.t)};
  return style;
}

const tick = x => ({type: "line", x0: x, x1: x, yref: "paper", ysizemode: "pixel", yanchor: 1, y0: 0, y1: TICK_PX,
  line: {color: token("c-tick"), width: 1}});

const label = (number, x, named) => note({x, yref: "paper", y: 1, yanchor: "bottom", xanchor: "left", xshift: 1,
  yshift: -2, borderpad: 2, text: named ? say("attempt", {n: number}) : String(number)});
