// An element with `data-when-visible` does not poll while the tab is hidden.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (document.hidden && event.target.closest("[data-when-visible]")) event.preventDefault();
});
