// The palette (Ctrl+K or Cmd+K): pages and what the page can do are in it from the start, runs and projects come from
// the server while somebody types. A control with `data-act="words"` is something that the page can do: choosing the
// words clicks it. Arrow keys choose, Enter takes, Escape closes.
const WAIT_MS = 120;
const dialog = document.querySelector("#palette");
const input = dialog?.querySelector("input");
const list = dialog?.querySelector("[role=listbox]");
const group = (name) => list.querySelector(`[data-group="${name}"]`);
const shown = () => [...list.querySelectorAll("[role=option]:not([hidden])")];

let chosen = null, timer = 0, asked = 0;

function open() {
  if (document.querySelector("dialog[open]")) return;
  input.value = "";
  chosen = null;
  fill("act", [...document.querySelectorAll("[data-act]")].filter((one) => !one.disabled && !one.closest("[hidden]"))
    .map((control) => option({ title: control.dataset.act }, () => control.click())));
  narrow();
  ask();
  dialog.showModal();
  input.focus();
}

function option({ title, note, url, shape, tone }, act) {
  const one = Object.assign(document.createElement("div"), { className: "palette__one" });
  one.setAttribute("role", "option");
  if (url) one.dataset.url = url;
  one.act = act;
  if (shape) one.append(icon(shape, tone));
  one.append(Object.assign(document.createElement("span"), { textContent: title }));
  if (note) one.append(Object.assign(document.createElement("span"), { className: "palette__note", textContent: note }));
  return one;
}

function icon(shape, tone) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", `i st--${tone}`);
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#${shape}`);
  svg.append(use);
  return svg;
}

function fill(name, options) {
  group(name).querySelectorAll("[role=option]").forEach((one) => one.remove());
  group(name).append(...options);
}

// Of pages and acts, those that have every word; the server looks for the others. With nothing typed the newest runs
// stand first, and last as soon as something is: what is chosen may not change when they come.
function narrow() {
  list[input.value.trim() ? "append" : "prepend"](group("run"), group("project"));
  const words = input.value.toLowerCase().split(/\s+/);
  for (const name of ["act", "place"]) {
    for (const one of group(name).querySelectorAll("[role=option]")) {
      const text = one.firstElementChild.textContent.toLowerCase();
      one.hidden = !words.every((word) => text.includes(word));
    }
  }
  show();
}

function show() {
  list.querySelectorAll("[role=option]").forEach((one, place) => { one.id = `palette-${place}`; });
  list.querySelectorAll("[role=group]").forEach((one) => { one.hidden = !one.querySelector("[role=option]:not([hidden])"); });
  dialog.querySelector("[data-none]").hidden = shown().length > 0;
  choose(shown().includes(chosen) ? chosen : shown()[0] ?? null);
}

function choose(one) {
  chosen = one;
  for (const other of list.querySelectorAll("[role=option]")) other.setAttribute("aria-selected", String(other === one));
  if (!one) return input.removeAttribute("aria-activedescendant");
  input.setAttribute("aria-activedescendant", one.id);
  one.scrollIntoView({ block: "nearest" });
}

async function ask() {
  const mine = ++asked;
  const answer = await fetch(`${dialog.dataset.find}?${new URLSearchParams({ q: input.value })}`).catch(() => null);
  if (!answer?.ok || answer.redirected || mine !== asked) return;
  const { found } = await answer.json();
  if (mine !== asked) return;
  const first = chosen === shown()[0]; // nobody has moved: what comes first is chosen
  for (const kind of ["run", "project"]) fill(kind, found.filter((one) => one.kind === kind).map((one) => option(one)));
  if (first) chosen = null;
  show();
}

function take(one, elsewhere) {
  dialog.close();
  if (one.act) one.act();
  else if (elsewhere) window.open(one.dataset.url, "_blank", "noopener");
  else location.assign(one.dataset.url);
}

function key(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const all = shown();
  if (step && all.length) {
    event.preventDefault();
    choose(all.at((all.indexOf(chosen) + step) % all.length));
  } else if (event.key === "Enter" && chosen) {
    event.preventDefault();
    event.stopPropagation(); // Ctrl+Enter is not for the form behind
    take(chosen, event.ctrlKey || event.metaKey);
  }
}

if (dialog) {
  const label = document.querySelector("[data-palette-open] kbd");
  if (label && /Mac|iPhone|iPad/.test(navigator.platform)) label.textContent = "⌘ K";
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    if (dialog.open) dialog.close();
    else open();
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-palette-open]")) open();
    else if (event.target === dialog) dialog.close();
  });
  list.addEventListener("click", (event) => {
    const one = event.target.closest("[role=option]");
    if (one) take(one, event.ctrlKey || event.metaKey);
  });
  input.addEventListener("keydown", key);
  input.addEventListener("input", () => {
    narrow();
    clearTimeout(timer);
    timer = setTimeout(ask, WAIT_MS);
  });
}
