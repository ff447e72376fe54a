// Suggestions below the search box: keys and values that exist in what the person may see. Arrow keys choose, Tab or
// Enter takes, Escape closes. Enter with nothing chosen searches.
const box = document.querySelector("[data-complete]");
const input = box?.querySelector("input");
const list = box?.querySelector("[role=listbox]");
const WAIT_MS = 120;

let found = [];
let chosen = -1;
let timer = 0;
let asked = 0;

function show() {
  list.replaceChildren(...found.map((one, place) => {
    const item = document.createElement("li");
    item.id = `completion-${place}`;
    item.setAttribute("role", "option");
    item.setAttribute("aria-selected", String(place === chosen));
    for (const text of [one.text.trim(), one.about]) {
      const span = document.createElement("span");
      span.textContent = text;
      item.append(span);
    }
    item.addEventListener("mousedown", (event) => { // before the box loses its focus
      event.preventDefault();
      take(place);
    });
    return item;
  }));
  list.hidden = !found.length;
  input.setAttribute("aria-expanded", String(!list.hidden));
  if (chosen >= 0) {
    input.setAttribute("aria-activedescendant", `completion-${chosen}`);
    list.children[chosen].scrollIntoView({ block: "nearest" });
  } else input.removeAttribute("aria-activedescendant");
}

function close() {
  asked += 1;
  clearTimeout(timer);
  found = [];
  chosen = -1;
  show();
}

function take(place) {
  const { text, start } = found[place];
  const after = input.value.slice(input.selectionStart).replace(/^[^\s()]*/, "");
  input.value = input.value.slice(0, start) + text + after.trimStart();
  const at = start + text.length;
  input.setSelectionRange(at, at);
  close();
  ask();
}

async function ask() {
  const mine = ++asked;
  const query = new URLSearchParams({
    before: input.value.slice(0, input.selectionStart),
    project: input.form.elements.project?.value ?? "",
  });
  const answer = await fetch(`${box.dataset.complete}?${query}`).catch(() => null);
  if (!answer?.ok || mine !== asked || document.activeElement !== input) return;
  const kept = found[chosen]?.text, came = (await answer.json()).found;
  if (mine !== asked) return;
  found = came;
  chosen = found.findIndex((one) => one.text === kept);
  show();
}

// Until the next suggestions come, only those stay that still fit: nobody takes one that was for less than is typed.
function soon() {
  clearTimeout(timer);
  const kept = found[chosen];
  const typed = (from) => input.value.slice(from, input.selectionStart).toLowerCase();
  found = found.filter((one) => one.text.toLowerCase().includes(typed(one.start)));
  chosen = found.indexOf(kept);
  show();
  timer = setTimeout(ask, WAIT_MS);
}

function key(event) {
  if (event.key === "Escape" && !list.hidden) {
    event.preventDefault(); // a search box would empty itself
    return close();
  }
  if (list.hidden) {
    if (event.key === "ArrowDown") ask();
    return;
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    event.preventDefault();
    chosen = (chosen + step + found.length + (chosen < 0 && step < 0 ? 1 : 0)) % found.length;
    show();
  } else if (chosen >= 0 && (event.key === "Enter" || event.key === "Tab")) {
    event.preventDefault();
    take(chosen);
  }
}

if (box) {
  input.addEventListener("input", soon);
  input.addEventListener("click", ask);
  input.addEventListener("keydown", key);
  input.addEventListener("blur", close);
}
