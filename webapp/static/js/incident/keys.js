// The legend of a chart: the subject and what it is set against, or the phases of a step.
import {say} from "../run/words.js";

const PHASES = ["data", "forward", "backward", "exposed_comm", "optimizer", "other"];

export function keysOf({id, names, columns}, bad) {
  if (id === "phases") {
    return PHASES.filter(phase => columns[phase]?.some(Number.isFinite)).map(phase =>
      key(say(`phase_${phase}`), phase === "exposed_comm" ? "sw sw--hatch" : "sw", `k-${phase}`));
  }
  if (!names?.subject) return [];
  const line = columns ? "sw sw--line" : "sw";
  return [key(names.subject, line, `k-${bad}`), key(names.ground, line, columns ? "k-line" : "k-quiet")];
}

function key(text, shape, color) {
  const item = document.createElement("li"), swatch = document.createElement("i");
  swatch.className = `${shape} ${color}`;
  item.append(swatch, text);
  return item;
}
