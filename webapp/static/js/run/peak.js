// Says how high a spike goes that leaves the picture.
import {note} from "./chart_style.js";
import {number} from "./words.js";

// `peak`: [index, ms] of `spanOf`, or null.
export function peakLabel(peak, panel, [first, final]) {
  if (!peak) return [];
  const x = panel.x[peak[0]], text = `${number(peak[1])} ms`, atEnd = x > first + 0.85 * (final - first);
  return [note({x, yref: "paper", y: 1, yanchor: "top", xanchor: atEnd ? "right" : "left",
    text: atEnd ? `${text} ↑` : `↑ ${text}`})];
}
