// The exact time behind an age or a day, for those without a pointer to hover: on keyboard focus and on a tap.
const BRIEF = 'time[data-since], time[data-at="day"]';
const tip = document.createElement("div");
let shown = null;

tip.className = "tip";
tip.popover = "manual"; // above dialogs too; the words are the title, which a screen reader has read already
tip.setAttribute("aria-hidden", "true");
document.body.append(tip);

function hide() {
  if (shown) tip.hidePopover();
  shown = null;
}

function show(time) {
  hide();
  if (!time.title) return;
  tip.textContent = time.title;
  tip.showPopover();
  shown = time;
  const at = time.getBoundingClientRect();
  const left = Math.min(at.left, innerWidth - tip.offsetWidth - 8);
  const below = at.bottom + 4 + tip.offsetHeight < innerHeight;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${below ? at.bottom + 4 : at.top - 4 - tip.offsetHeight}px`;
}

// What is a part of a link or a button is no stop of its own.
function reach(root) {
  const times = [...root.querySelectorAll(BRIEF), ...(root.matches(BRIEF) ? [root] : [])];
  for (const time of times) if (!time.closest("a, button, summary, label")) time.tabIndex = 0;
}

reach(document.body);
new MutationObserver((changes) => {
  for (const { addedNodes } of changes) for (const node of addedNodes) if (node instanceof HTMLElement) reach(node);
  if (shown && !shown.isConnected) hide();
}).observe(document.body, { childList: true, subtree: true });

document.addEventListener("focusin", ({ target }) => {
  if (target.matches("time:focus-visible")) show(target);
  else hide();
});
document.addEventListener("click", ({ target }) => {
  const time = target.closest?.("time");
  if (time && !time.closest("a, button, summary, label")) show(time);
  else hide();
});
document.addEventListener("keydown", ({ key }) => key === "Escape" && hide());
addEventListener("scroll", hide, { capture: true, passive: true });
