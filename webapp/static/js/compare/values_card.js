// The two charts of settings and results, and what their menus choose.
import {coloursBy, drawParallel, drawScatter} from "./draw_values.js";
import {remember, state, visible} from "./state.js";

const MOST_SETTINGS = 8;

export async function drawValues(card, answer, none) {
  const all = [...answer.settings, ...answer.results];
  if (!answer.settings.length || !answer.results.length) return none(card);
  const menu = name => card.querySelector(`[data-${name}]`);
  const by = choose(menu("by"), answer.results, state.by), x = choose(menu("x"), all, state.x);
  const y = choose(menu("y"), all, state.y || answer.results[0].word);
  const name = new Map(state.runs.map(run => [run.uid, run.name])), shown = new Set(visible().map(({uid}) => uid));
  const common = {uids: answer.uids, colours: coloursBy(by, menu("by").dataset.more.split(",").includes(by.word)),
    names: answer.uids.map(uid => name.get(uid)), keep: uid => shown.has(uid)};
  await drawParallel(card.querySelector("[data-plot=parallel]"), {...common, axes: [...answer.settings.slice(0, MOST_SETTINGS), ...answer.results]});
  await drawScatter(card.querySelector("[data-plot=scatter]"), {...common, x, y});
}

export function watchMenus(card, again) {
  for (const name of ["by", "x", "y"]) {
    card.querySelector(`[data-${name}]`).addEventListener("change", event => {
      state[name] = event.target.value;
      remember();
      again();
    });
  }
}

function choose(select, many, word) {
  if (!select.options.length) select.append(...many.map(one => new Option(one.title, one.word)));
  const found = many.find(one => one.word === word) ?? many[0];
  select.value = found.word;
  return found;
}
