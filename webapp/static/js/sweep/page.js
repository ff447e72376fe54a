// The page of a sweep: the value of each run, and the curves; read again while the sweep goes on and somebody looks.
import {ask} from "../run/ask.js";
import {bySteps, layout, onThemeChange, plot, tickFormat, token} from "../run/chart_style.js";

const AGAIN_MS = 5000;
const place = document.querySelector("[data-sweep-charts]");
const plots = Object.fromEntries([...place.querySelectorAll("[data-plot]")].map(element => [element.dataset.plot, element]));
const words = place.dataset;
const FEW = 12; // runs, of which each gets its number on the axis
const runWord = number => words.runWord.replace("{n}", number);
let answer = null;

async function read() {
  answer = await ask(words.sweepCharts) ?? answer;
  await draw();
}

async function draw() {
  if (!answer?.values.x.length) return;
  await drawValues(answer);
  await drawCurves(answer);
}

function drawValues({goal, values, best}) {
  const early = values.state.map(state => state === "early");
  return plot(plots.values, [
    {type: "scatter", mode: "lines", x: best.x, y: best.y, name: words.bestWord, line: {color: token("accent"), width: 2, shape: "hv"}},
    {type: "scatter", mode: "markers", x: values.x, y: values.y, name: goal,
      text: values.x.map((number, i) => early[i] ? `${runWord(number)}, ${words.earlyWord}` : runWord(number)),
      marker: {size: 7, color: token("c-quiet"), symbol: early.map(one => one ? "circle-open" : "circle")},
      hovertemplate: "%{text}: %{y:.6~g}<extra></extra>"},
  ], layout({margin: {l: 56}, hovermode: "closest", xaxis: {tickformat: ",d", tickprefix: runWord(""), showtickprefix: "first",
      ...(values.x.length <= FEW ? {dtick: 1} : {})},
    yaxis: {tickformat: tickFormat(span(values.y))}}));
}

function drawCurves({curves}) {
  const lines = curves.map(({number, state, x, y}, i) => {
    const best = i === curves.length - 1;
    return {type: "scatter", mode: "lines", x, y, name: runWord(number), opacity: best ? 1 : 0.6,
      line: {color: token(best ? "accent" : "c-quiet"), width: best ? 2 : 1, dash: state === "early" ? "dot" : "solid"},
      hovertemplate: `${runWord(number)}: %{y:.6~g}<extra></extra>`};
  });
  return plot(plots.curves, lines, layout({margin: {l: 56}, hovermode: "closest", xaxis: bySteps(),
    yaxis: {tickformat: tickFormat(span(curves.flatMap(({y}) => y)))}}));
}

const span = values => Math.max(...values) - Math.min(...values);

read();
onThemeChange(draw);
if ("live" in words) setInterval(() => { if (!document.hidden) read(); }, AGAIN_MS);
