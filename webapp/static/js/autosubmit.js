// A form with `data-autosubmit`, or a field with `data-send-on-change`, is sent when a choice changes.
document.addEventListener("change", (event) => {
  const field = event.target;
  if (field.closest("form[data-autosubmit]") || field.hasAttribute("data-send-on-change")) field.form.requestSubmit();
});
