// The two charts of settings and results, and what their menus choose.
import {say} from "../run/words.js";
import {drawBrushes} from "./brush.js";
import {coloursBy, drawParallel, drawScatter, shownAxes} from "./draw_values.js";
import {remember, state, visible} from "./state.js";
import {isInside, rangesOf, told} from "./value_ranges.js";

const MOST_SETTINGS = 8;

export async function drawValues(card, answer, none) {
  const all = [...answer.settings, ...answer.results];
  if (!answer.settings.length || !answer.results.length) return none(card);
  const menu = name => card.querySelector(`[data-${name}]`);
  const by = choose(menu("by"), answer.results, state.by), x = choose(menu("x"), all, state.x);
  const y = choose(menu("y"), all, state.y || answer.results[0].word);
  const name = new Map(state.runs.map(run => [run.uid, run.name])), shown = new Set(visible().map(({uid}) => uid));
  const axes = shownAxes([...answer.settings.slice(0, MOST_SETTINGS), ...answer.results]), ranges = rangesOf(axes, state.within);
  const chosen = axes.filter(({word}) => ranges.has(word)), inside = run => chosen.every(one => isInside(one, one.values[run], ranges.get(one.word)));
  const common = {uids: answer.uids, colours: coloursBy(by, menu("by").dataset.more.split(",").includes(by.word)),
    names: answer.uids.map(uid => name.get(uid)), keep: uid => shown.has(uid), inside};
  tell(card, chosen.map(one => told(one, ranges.get(one.word))), answer.uids.map((uid, run) => shown.has(uid) && inside(run)), shown.size);
  drawBrushes(card.querySelector("[data-brushes]"), axes, ranges, (word, range, done) => {
    if (range) state.within.set(word, range);
    else state.within.delete(word);
    if (done) remember();
    drawValues(card, answer, none);
  });
  await drawParallel(card.querySelector("[data-plot=parallel]"), {...common, axes});
  await drawScatter(card.querySelector("[data-plot=scatter]"), {...common, x, y});
}

// What is chosen, in the place of what the chart says without a choice.
function tell(card, ranges, inside, of) {
  const finding = card.querySelector("[data-finding]");
  finding.dataset.usual ??= finding.textContent;
  finding.textContent = ranges.length ? say("in_ranges", {n: inside.filter(Boolean).length, of, ranges: ranges.join(" · ")}) : finding.dataset.usual;
  card.querySelector("[data-all-ranges]").hidden = !ranges.length;
}

export function watchMenus(card, again) {
  for (const name of ["by", "x", "y"]) {
    card.querySelector(`[data-${name}]`).addEventListener("change", event => {
      state[name] = event.target.value;
      remember();
      again();
    });
  }
  card.querySelector("[data-all-ranges]").addEventListener("click", () => {
    state.within.clear();
    remember();
    again();
  });
}

function choose(select, many, word) {
  if (!select.options.length) select.append(...many.map(one => new Option(one.title, one.word)));
  const found = many.find(one => one.word === word) ?? many[0];
  select.value = found.word;
  return found;
}
