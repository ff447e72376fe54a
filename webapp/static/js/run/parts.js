// The page's words (run bar, facts, banner, events, ranks): the server renders them, this puts the new ones in place.
const QUIET_MS = 1000;

export function pageParts(address, onState) {
  const came = new Map();
  let timer = null, dueAt = 0, readAt = 0, reading = false, again = false;

  const read = async () => {
    timer = null;
    if (reading) { again = true; return; }
    reading = true;
    const reply = await fetch(address, {headers: {"HX-Request": "true"}}).catch(() => null);
    reading = false;
    readAt = performance.now();
    if (reply?.status === 404) return location.reload();
    if (reply?.ok) {
      const fresh = new DOMParser().parseFromString(await reply.text(), "text/html");
      const state = stateOf(fresh);
      replace(fresh, came);
      onState(state);
    }
    if (again) { again = false; soon(); }
  };
  // Read again `quiet` ms after the last read, or at once when that is long ago.
  const soon = (quiet = QUIET_MS) => {
    const at = readAt + quiet;
    if (timer !== null && dueAt <= at) return;
    clearTimeout(timer);
    dueAt = at;
    timer = setTimeout(read, Math.max(0, at - performance.now()));
  };
  onState(stateOf(document));
  return {soon};
}

// Ages tick in place, so what came is compared with what came before, not with what stands.
export function replace(fresh, came) {
  for (const part of fresh.querySelectorAll("[data-part]")) {
    const name = part.dataset.part, old = document.querySelector(`[data-part="${name}"]`);
    if (!old || came.get(name) === part.innerHTML) continue;
    // An open menu or a focused button stays; the next state brings the part again.
    const focused = old.contains(document.activeElement) && document.activeElement;
    if (old.querySelector("details[open]") || (focused && !focused.matches("[role=region]"))) continue;
    came.set(name, part.innerHTML);
    old.replaceWith(part);
    if (focused) part.querySelector("[role=region]")?.focus({preventScroll: true});
  }
}

const stateOf = root => {
  const {status, progress, attempt, shape, tone, word} = root.querySelector("[data-status]").dataset;
  return {status, progress, shape, tone, word, attempt: Number(attempt)};
};
