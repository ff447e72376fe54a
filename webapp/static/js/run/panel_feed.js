// The panels that the page holds: read in batches, kept up to date by frames.
import {ask} from "./ask.js";
import {fits, keepNewest, merge} from "./panel_merge.js";

const FIRST = 1, MANY = 30, LONGEST = 6000; // panels per request, and characters: proxies refuse long addresses
const MOST_X = 2500, HOLES = "holes";
const REREAD_MS = 4000; // a shown panel that frames do not carry is read again this often while frames arrive

// As it stands in the address: once for the list, once for the query.
const addressed = id => encodeURIComponent(encodeURIComponent(id));

export function panelFeed(config, view, redraw) {
  const panels = new Map(), readAt = new Map(), wanted = new Set();
  const early = new Map(); // id -> one list for each read under way, of the deltas that came meanwhile
  let asked = null, age = 0, begins = [], first = null;

  // Resolves once they are read, or could not be.
  const want = ids => {
    ids.forEach(id => wanted.add(id));
    if (wanted.size) asked ??= Promise.resolve().then(readAll);
    return asked;
  };
  const readAll = async () => {
    asked = null;
    const ids = [...wanted];
    wanted.clear();
    // The first one comes alone, and all others wait for it: the top of the page is drawn while they are read.
    first ??= read(ids.splice(0, FIRST), age);
    await first;
    while (ids.length) await read(ids.splice(0, fitting(ids)), age);
  };
  const fitting = ids => {
    let length = 0;
    const over = ids.findIndex((id, i) => i === MANY || (length += addressed(id).length) > LONGEST);
    return over < 0 ? ids.length : Math.max(1, over);
  };
  const read = async (ids, born) => {
    const missed = new Map(ids.map(id => [id, []]));
    ids.forEach(id => { readAt.set(id, performance.now()); early.set(id, (early.get(id) ?? new Set()).add(missed.get(id))); });
    // Every id is encoded on its own: the name of a metric may hold a comma.
    const found = await ask(config.urls.panels, {...view.query(), ...(config.all ? {} : {attempt: config.attempt}),
      width: innerWidth > 720 ? 600 : 300, ids: ids.map(encodeURIComponent).join(",")});
    if (born !== age) return;
    missed.forEach((deltas, id) => early.get(id).delete(deltas));
    if (!found) return redraw(ids, {failed: true});
    begins = found.begins ?? [];
    for (const [id, panel] of Object.entries(found.panels)) panels.set(id, panel);
    missed.forEach((deltas, id) => deltas.forEach(delta => absorb(id, delta)));
    redraw(ids);
  };
  const apply = (deltas, shown) => {
    for (const [id, delta] of Object.entries(deltas)) early.get(id)?.forEach(list => list.push(delta));
    const known = Object.keys(deltas).filter(id => panels.has(id));
    known.forEach(id => absorb(id, deltas[id]));
    redraw(known);
    const due = performance.now() - REREAD_MS;
    want(shown.filter(id => !(id in deltas) && (readAt.get(id) ?? 0) < due));
  };
  const absorb = (id, delta) => {
    const panel = panels.get(id);
    if (id === HOLES) return begins.length ? want([id]) : panels.set(id, delta); // a frame knows one attempt's alone
    if (!fits(panel, delta) && readAt.get(id) < performance.now() - REREAD_MS / 4) want([id]);
    const merged = merge(panel, delta);
    panels.set(id, view.span() && panel.axis !== "time" ? keepNewest(merged, view.span()) : merged);
    // Without a sliding window a page that stays open would grow for ever: read the reduced form again.
    if (merged.x.length > MOST_X) want([id]);
  };
  return {
    want, apply,
    get: id => panels.get(id),
    holes: () => panels.get(HOLES)?.holes ?? [],
    // [[number, first step]] of the attempts that are drawn, when they are several.
    begins: () => begins,
    // The window changed: what was read is of no use any more.
    forget: () => { age++; panels.clear(); readAt.clear(); early.clear(); },
  };
}
