// The menu of columns: what is shown, the other standard ones, and metrics and settings found by name. There may be
// thousands of names, so only those that fit to what is typed are asked for.
import { language } from "../language.js";

const menu = document.querySelector("[data-columns]");
const WAIT_MS = 150;
const form = document.querySelector("#search");

let timer = 0;
let asked = 0;

const shown = () => menu.querySelector("[data-chosen]");
const words = () => [...menu.querySelectorAll("input[type=checkbox]:checked")].map((box) => box.value);

function tick(word, title) {
  const label = document.createElement("label");
  label.className = "tick tick--text";
  const box = document.createElement("input");
  box.type = "checkbox";
  box.value = word;
  label.append(box, ` ${title}`);
  return label;
}

// A ticked box moves up to those that are shown, so that the next search does not lose it.
function moved(event) {
  const label = event.target.closest("label.tick");
  if (label && event.target.checked && !shown().contains(label)) shown().append(label);
}

function standard(part) {
  const listed = new Set([...shown().querySelectorAll("input")].map((box) => box.value));
  for (const label of menu.querySelectorAll("[data-standard]")) {
    const fits = label.textContent.toLowerCase().includes(part.toLowerCase());
    if (!shown().contains(label)) label.hidden = listed.has(label.dataset.standard) || !fits;
  }
  return listed;
}

async function find() {
  const mine = ++asked;
  const part = menu.querySelector("[data-find]").value.trim();
  const listed = standard(part);
  const query = new URLSearchParams({ part, project: form.elements.project?.value ?? "" });
  const answer = await fetch(`${menu.dataset.columns}?${query}`).catch(() => null);
  if (!answer?.ok || mine !== asked) return;
  const { found, total } = await answer.json();
  if (mine !== asked) return;
  const fresh = found.filter((one) => !listed.has(one.word));
  const titled = (one) => (one.kind === "config" ? one.word : one.title);
  menu.querySelector("[data-found]").replaceChildren(...fresh.map((one) => tick(one.word, titled(one))));
  const note = menu.querySelector("[data-note]");
  note.hidden = found.length > 0 && total <= found.length;
  note.textContent = found.length
    ? menu.dataset.more.replace("{shown}", found.length).replace("{of}", total.toLocaleString(language))
    : menu.dataset.none;
}

function go(cols) {
  const address = new URL(location.href);
  if (cols) address.searchParams.set("cols", cols);
  else address.searchParams.delete("cols");
  address.searchParams.delete("page");
  if (!address.searchParams.has("view")) address.searchParams.set("view", "all"); // no default view instead
  location.assign(address);
}

if (menu) {
  menu.addEventListener("toggle", () => {
    if (!menu.open) return;
    find();
    menu.querySelector("[data-find]").focus();
  });
  menu.addEventListener("change", moved);
  menu.querySelector("[data-find]").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(find, WAIT_MS);
  });
  menu.querySelector("[data-apply]").addEventListener("click", () => go(words().map(encodeURIComponent).join(",")));
  menu.querySelector("[data-standard-columns]").addEventListener("click", () => go(""));
}
