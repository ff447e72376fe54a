// One metric of all runs: a line each; with smoothing the raw line stays, thin and faint.
import {isNarrow, layout, note, plot, tickFormat, token} from "../run/chart_style.js";
import {last, spanOf, spread} from "../run/chart_range.js";
import {say} from "../run/words.js";
import {colourOf, escaped, greyFirst, short} from "./run_style.js";

const MOST_LABELS = 6, ROOM_FOR_LABELS = 132;
const UNITS = [[172800, 3600, "h"], [7200, 60, "min"], [0, 1, "s"]]; // from so many seconds on: seconds of one, its name

const zooms = new WeakMap(); // of each chart that is listened to: told the two places that somebody dragged over

// `zoom`: [first, last] x; `onZoom([first, last])` is told what somebody drags over, and null when all is wanted again.
export function drawCurves(element, answer, runs, {log = false, emphasised = "", zoom = null, onZoom = null} = {}) {
  const drawn = greyFirst(runs).filter(({uid}) => answer.lines[uid]);
  const horizontal = axisOf(answer, drawn, zoom);
  const {range} = spanOf(...["y", "y"].map(() => drawn.flatMap(({uid}) => answer.lines[uid].y)));
  const labels = log ? [] : labelled(drawn, answer, range, horizontal, element);
  const span = range[1] - range[0], format = tickFormat(span, Math.max(...range.map(Math.abs)));
  const drawing = plot(element, drawn.flatMap(run => lines(run, answer.lines[run.uid], horizontal, emphasised)), layout({
    hovermode: drawn.length > 10 ? "closest" : "x unified", annotations: labels,
    margin: {l: format.endsWith("e") || log ? 60 : 48, r: labels.length ? ROOM_FOR_LABELS : 14},
    xaxis: {...horizontal.style, ...(zoom ? {range: zoom.map(horizontal.place)} : {}), nticks: isNarrow() ? 4 : 6},
    yaxis: log ? {type: "log", autorange: true, tickformat: "~g", hoverformat: ".4~g", dtick: undefined}
      : {range, tickformat: format, hoverformat: span < 8 ? ".4~g" : ",.4~g"},
  }), {doubleClick: onZoom ? false : "reset"});
  if (onZoom) drawing.then(() => listen(element, ends => onZoom(ends?.map(horizontal.back) ?? null)));
  return drawing;
}

function listen(element, zoom) {
  const listens = zooms.has(element);
  zooms.set(element, zoom);
  if (listens) return;
  element.on("plotly_relayout", change => {
    const ends = [change["xaxis.range[0]"], change["xaxis.range[1]"]];
    if (ends[0] !== undefined) zooms.get(element)(ends);
  });
  element.on("plotly_doubleclick", () => { zooms.get(element)(null); return false; });
}

function lines(run, line, {of}, emphasised) {
  const color = colourOf(run), few = line.x.length < 25;
  const faint = emphasised && emphasised !== run.uid ? 0.15 : run.colour === null ? 0.5 : 1;
  const common = {x: of(line.x), name: escaped(short(run.name)), type: "scatter", connectgaps: false, legendgroup: run.uid};
  const hover = {hovertemplate: "%{y}<extra>%{fullData.name}</extra>"};
  const top = {...common, ...hover, y: line.s ?? line.y, opacity: faint, mode: few ? "lines+markers" : "lines",
    marker: {size: 4, color}, line: {color, width: emphasised === run.uid ? 2.5 : run.colour === null ? 1 : 1.75}};
  if (!line.s) return [top];
  return [{...common, y: line.y, mode: "lines", hoverinfo: "skip", opacity: 0.28 * faint, line: {color, width: 1}}, top];
}

// `of`: the answer's x as places on the axis; `place`: one x of the window; `back`: a place as such an x.
function axisOf({axis, base, lines}, drawn, zoom) {
  if (axis === "step") {
    return {of: x => x, place: x => x, back: Math.round, style: {unifiedhovertitle: {text: say("steps_hover", {x: "%{x:,d}"})}}};
  }
  if (axis === "time") {
    const place = second => new Date(second * 1000);
    return {of: x => x.map(second => place(base + second)), place, back: at => new Date(at).getTime() / 1000, style: {type: "date",
      tickformat: undefined, hoverformat: "%Y-%m-%d %H:%M:%S", unifiedhovertitle: {text: "%{x}"}}};
  }
  const longest = zoom ? zoom[1] : Math.max(0, ...drawn.map(({uid}) => last(lines[uid].x)));
  const [, seconds, unit] = UNITS.find(([from]) => longest >= from) ?? UNITS[UNITS.length - 1];
  return {of: x => x.map(second => second / seconds), place: second => second / seconds, back: at => at * seconds,
    style: {ticksuffix: ` ${unit}`, tickformat: ",~g", hoverformat: ",.3~g", unifiedhovertitle: {text: `%{x:,.3~g} ${unit}`}}};
}

// Names at the ends of the lines, while they are few and there is room.
function labelled(drawn, answer, range, horizontal, element) {
  const named = drawn.filter(({colour}) => colour !== null);
  if (named.length > MOST_LABELS || drawn.length > MOST_LABELS || isNarrow() || !named.length) return [];
  const ends = named.map(run => {
    const {x, y, s} = answer.lines[run.uid];
    return {run, x: last(x), y: last(s ?? y)};
  }).filter(({y}) => Number.isFinite(y));
  return spread(ends, range, element.clientHeight - 36).map(({run, y, shift}) => note({x: 1, xref: "paper", y,
    yshift: shift, xanchor: "left", xshift: 6, yanchor: "middle", text: escaped(short(run.name)).slice(0, 40),
    font: {size: 11, color: colourOf(run), family: token("font")}}));
}
