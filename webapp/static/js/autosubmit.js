// A form with `data-autosubmit` is sent when one of its choices changes.
document.addEventListener("change", (event) => event.target.closest("form[data-autosubmit]")?.requestSubmit());
