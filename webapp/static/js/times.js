// Points in time in the viewer's own zone and way of writing. `<time data-at="minute">` is rewritten, an age
// (`data-since`) says it on hover; so does any other `<time>` once the pointer is on it.
const STYLES = {
  day: { dateStyle: "medium" },
  minute: { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" },
  second: { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" },
  time: { timeStyle: "medium", hourCycle: "h23" },
  full: { dateStyle: "medium", timeStyle: "long", hourCycle: "h23" }, // with the name of the zone
};
const language = document.documentElement.lang;
// The page's language as this person's browser has it: British or American days, for one.
const locale = navigator.languages.find((one) => one.split("-")[0] === language.split("-")[0]) ?? language;
const formats = new Map();

function text(at, style) {
  if (!formats.has(style)) formats.set(style, new Intl.DateTimeFormat(locale, STYLES[style]));
  return formats.get(style).format(at);
}

function write(element) {
  const at = new Date(element.dateTime);
  if (Number.isNaN(at.getTime())) return;
  element.title = text(at, "full");
  if (element.dataset.at) element.textContent = text(at, element.dataset.at);
}

function writeIn(root) {
  if (root.matches("time[data-at], time[data-since]")) write(root);
  root.querySelectorAll("time[data-at], time[data-since]").forEach(write);
}

writeIn(document.body);
// Live parts are written before they are painted. Charts are not looked through.
new MutationObserver((changes) => {
  for (const { addedNodes } of changes) {
    for (const node of addedNodes) if (node instanceof HTMLElement) writeIn(node);
  }
}).observe(document.body, { childList: true, subtree: true });
document.addEventListener("pointerover", (event) => {
  const element = event.target.closest?.("time:not([title])");
  if (element) write(element);
});
