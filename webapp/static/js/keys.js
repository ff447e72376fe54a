// Keys. "/" goes to the page's search box, Ctrl+Enter (or Cmd) sends the form that has `data-submit-key`, "[" and "]"
// go to the tab before and after, "?" shows the sheet of shortcuts, and two letters ("g r") go to the place whose
// `data-keys` they are. None of them does anything while somebody types or a dialog is open.
const NEXT_KEY_MS = 1200;
const sheet = document.querySelector("#shortcuts");
const typing = (element) => element.closest("input, textarea, select, [contenteditable]");
let first = "", firstAt = 0;

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return send(event);
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (typing(event.target) || document.querySelector("dialog[open]")) return;
  if (ALONE[event.key]) return ALONE[event.key](event);
  if (event.key.length === 1) pair(event);
});
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-shortcuts-open]")) sheet?.showModal();
  if (event.target === sheet) sheet.close(); // beside it: the backdrop is a part of the dialog
});

const ALONE = {
  "/": toSearch,
  "?": () => sheet?.showModal(),
  "[": () => tab(-1),
  "]": () => tab(1),
};

function send(event) {
  const form = event.target.closest("form[data-submit-key]") ?? document.querySelector("form[data-submit-key]");
  if (!form) return;
  event.preventDefault();
  form.requestSubmit();
}

function toSearch(event) {
  const box = document.querySelector("[data-search-key]");
  if (!box) return;
  event.preventDefault();
  box.focus();
  box.select();
}

function tab(step) {
  const all = [...document.querySelectorAll(".tabs [data-tab-link]")];
  all.at((all.findIndex((one) => one.ariaCurrent) + step) % all.length)?.click();
}

function pair(event) {
  const keys = `${first} ${event.key}`;
  const place = event.timeStamp - firstAt < NEXT_KEY_MS && document.querySelector(`[data-keys="${CSS.escape(keys)}"]`);
  first = event.key;
  firstAt = event.timeStamp;
  if (place) location.assign(place.dataset.url);
}
