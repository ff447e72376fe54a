// Keys: "/" goes to the page's search box; Ctrl+Enter (or Cmd) sends the form that has `data-submit-key`.
const typing = (element) => element.closest("input, textarea, select, [contenteditable]");

document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !typing(event.target)) {
    const box = document.querySelector("[data-search-key]");
    if (!box) return;
    event.preventDefault();
    box.focus();
    box.select();
  }
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    const form = event.target.closest("form[data-submit-key]") ?? document.querySelector("form[data-submit-key]");
    if (!form) return;
    event.preventDefault();
    form.requestSubmit();
  }
});
