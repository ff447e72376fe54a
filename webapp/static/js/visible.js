// An element with `data-when-visible` does not poll while the tab is hidden, nor while a question is open: the answer
// would send a form that the poll has replaced.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (!event.target.hasAttribute("data-when-visible")) return;
  if (document.hidden || document.querySelector("dialog[open]")) event.preventDefault();
});
