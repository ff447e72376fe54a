// The log pane: newest lines first read, then only what came since. Scrolling up pauses, scrolling to the end follows.
import {onBack, remember, remembered} from "./address.js";
import {ask} from "./ask.js";
import {row} from "./log_lines.js";
import {number, say} from "./words.js";

const MOST_ROWS = 2000, AT_END_PX = 24;

export function logPane(config) {
  const pane = document.querySelector("[data-log]");
  if (!pane) return {choose() {}, reload() {}, refresh() {}, grew() {}}; // a shared page without logs
  const list = pane.querySelector(".log");
  const search = pane.querySelector("input[type=search]"), ranks = pane.querySelector("[data-log-ranks]");
  listRanks(ranks);
  const follow = pane.querySelector("[data-log-follow]"), count = pane.querySelector("[data-log-count]");
  let timer = null;
  let rank = "", after = null, before = null, born = 0, busy = false, again = false, following = true, typed = null, lastTop = 0;

  const read = async more => {
    const mine = born;
    const found = await ask(config.urls.logs, {attempt: config.attempt, rank, q: search.value.trim(), ...more});
    return mine === born ? found : null;
  };
  const rows = lines => lines.map(line => row(line, search.value.trim()));
  const toEnd = () => { list.scrollTop = list.scrollHeight; };

  const reload = async () => {
    remember({q: search.value.trim(), rank});
    born++;
    busy = true;
    const found = await read({});
    busy = false;
    if (!found) return;
    ({after, before} = found);
    list.replaceChildren(...rows(found.lines));
    tell(found.error);
    follows(true);
  };
  const refresh = async () => {
    if (busy) { again = true; return; }
    if (after === null) return reload();
    busy = true;
    const found = await read({after});
    busy = false;
    if (found) append(found);
    if (again || found?.more) { again = false; refresh(); }
  };
  const append = found => {
    after = found.after ?? after;
    if (!found.lines.length) return found.error ? tell(found.error) : undefined;
    list.append(...rows(found.lines));
    while (following && list.children.length > MOST_ROWS) { list.firstElementChild.remove(); before = null; }
    tell();
    if (following) toEnd();
  };
  const older = async () => {
    if (busy || before === null) return;
    busy = true;
    const found = await read({before});
    busy = false;
    if (!found) return;
    before = found.before;
    const height = list.scrollHeight;
    list.prepend(...rows(found.lines));
    list.scrollTop += list.scrollHeight - height;
    tell();
  };
  const follows = yes => {
    following = yes;
    follow.setAttribute("aria-pressed", String(yes));
    follow.querySelector("[data-label]").textContent = say(yes ? "following" : "paused");
    if (yes) toEnd();
  };
  const tell = error => {
    const n = list.children.length;
    search.setAttribute("aria-invalid", String(Boolean(error)));
    pane.querySelector("[data-log-none]").classList.toggle("t-crit", Boolean(error));
    count.textContent = n ? say("lines_shown", {n: number(n)}) : "";
    pane.querySelector("[data-log-none]").hidden = n > 0;
    pane.querySelector("[data-log-none]").textContent = error || say(search.value.trim() || rank !== "" ? "no_hit" : "no_log");
  };
  // Only a person moves up; a taller list or a smaller pane merely leaves the end behind, and is followed.
  list.addEventListener("scroll", () => {
    const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < AT_END_PX;
    if (atEnd !== following && (atEnd || list.scrollTop < lastTop)) follows(atEnd);
    lastTop = list.scrollTop;
    if (list.scrollTop < 80) older();
  }, {passive: true});
  new ResizeObserver(() => { if (following) toEnd(); }).observe(list);
  search.addEventListener("input", () => { clearTimeout(typed); typed = setTimeout(reload, 250); });
  follow.addEventListener("click", () => follows(!following));
  ranks.addEventListener("click", event => { if (event.target.closest("button")) choose(event.target.closest("button").value); });
  ranks.addEventListener("change", event => choose(event.target.value));
  addEventListener("keydown", event => {
    if (event.key === "." && !event.target.closest("input, textarea, select")) follows(!following);
  });
  const choose = value => {
    rank = value;
    ranks.value = rank; // where it is a list to choose from
    ranks.querySelectorAll("button").forEach(button => button.setAttribute("aria-pressed", String(button.value === rank)));
    const raw = pane.querySelector("[data-raw]");
    if (raw) raw.href = rank === "" ? raw.dataset.all : `${raw.dataset.all}&rank=${rank}`;
    reload();
  };
  const fromAddress = () => {
    search.value = remembered("q");
    const asked = remembered("rank"), known = [...ranks.querySelectorAll("button, option")].map(one => one.value);
    choose(known.includes(asked) ? asked : "");
  };
  onBack(() => {
    if (remembered("q") !== search.value.trim() || remembered("rank") !== rank) fromAddress();
  });
  fromAddress();
  return {
    choose,
    reload, refresh,
    grew: lengths => {
      if (rank !== "" && !(rank in lengths)) return;
      timer ??= setTimeout(() => { timer = null; refresh(); }, 400);
    },
  };
}

// Of many ranks the page brings only how many there are: thousands of lines would be most of it.
function listRanks(choice) {
  const count = Number(choice.dataset.count ?? 0);
  const options = Array.from({length: count}, (_none, rank) => new Option(say("from_rank", {ranks: String(rank)}), rank));
  choice.options?.[0].after(...options);
}
