// A search box with `data-narrow="#list"` leaves those entries of the list that have its text.
// Delegated: lists come and go with live parts.
document.addEventListener("input", event => {
  const list = event.target.dataset?.narrow && document.querySelector(event.target.dataset.narrow);
  if (!list) return;
  const part = event.target.value.trim().toLowerCase();
  let shown = 0;
  for (const entry of list.children) {
    entry.hidden = !entry.textContent.toLowerCase().includes(part);
    shown += !entry.hidden;
  }
  const none = list.parentElement.querySelector("[data-narrow-none]");
  if (none) none.hidden = shown > 0;
});
