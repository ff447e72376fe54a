// A form or a button with `data-confirm="question"` asks in a dialog first; `data-confirm-word` is the word on its button.
const dialog = document.querySelector("#confirm");
let waiting = null;

document.addEventListener("submit", (event) => {
  const { target: form, submitter } = event;
  const asks = submitter?.dataset.confirm ? submitter : form;
  if (!asks.dataset.confirm || form.dataset.confirmed) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  waiting = { form, submitter };
  dialog.querySelector("[data-question]").textContent = asks.dataset.confirm;
  dialog.querySelector("[data-yes]").textContent = asks.dataset.confirmWord;
  dialog.showModal();
}, true);

dialog.addEventListener("close", () => {
  const asked = waiting;
  waiting = null;
  if (!asked || dialog.returnValue !== "yes") return;
  dialog.returnValue = "";
  if (!asked.form.isConnected) { // a live update has replaced it meanwhile; the answer still counts
    asked.form.hidden = true;
    document.body.append(asked.form);
  }
  asked.form.dataset.confirmed = "yes";
  asked.form.requestSubmit(asked.submitter);
  delete asked.form.dataset.confirmed;
});
