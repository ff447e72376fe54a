// The step from which on a rank is late: one dotted line on every chart that goes by steps, its label on the first only.
import {note, token} from "./chart_style.js";
import {say} from "./words.js";

const isShown = ({onset, range}) => Number.isFinite(onset) && onset > range[0] && onset < range[1];

export const onsetMark = view => !isShown(view) ? [] : [{type: "line", x0: view.onset, x1: view.onset, yref: "paper",
  y0: 0, y1: 1, line: {color: token("c-mark"), width: 1, dash: "dot"}}];

export function onsetLabel(view, name, late) {
  if (!late || !name || !isShown(view)) return [];
  const [first, final] = view.range, left = view.onset > first + 0.2 * (final - first);
  return [note({x: view.onset, yref: "paper", y: 1, yanchor: "top", xanchor: left ? "right" : "left",
    xshift: left ? -4 : 4, text: say("slows", {rank: name})})];
}
