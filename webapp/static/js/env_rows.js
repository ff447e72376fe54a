// Rows of a form, such as those of the environment: add, remove, and hide what is typed in a secret's box.
for (const block of document.querySelectorAll("[data-env-rows]")) {
  const rows = block.querySelector("[data-rows]");
  const total = block.querySelector("[name$=TOTAL_FORMS]");
  const blank = block.querySelector("[data-empty-row]");

  block.querySelector("[data-add-row]").addEventListener("click", () => {
    rows.insertAdjacentHTML("beforeend", blank.innerHTML.replaceAll("__prefix__", total.value));
    total.value = Number(total.value) + 1;
    rows.lastElementChild.querySelector("input").focus();
  });

  // Numbers must stay contiguous, so a removed row is emptied and hidden: the server passes over rows without a name.
  block.addEventListener("click", (event) => {
    const row = event.target.closest("[data-remove-row]")?.closest("[data-row]");
    if (!row) return;
    for (const input of row.querySelectorAll("input")) {
      if (input.type === "checkbox") input.checked = false;
      else input.value = "";
    }
    row.hidden = true;
    block.querySelector("[data-add-row]").focus();
  });

  block.addEventListener("change", (event) => {
    if (!event.target.matches("[data-secret-box]")) return;
    event.target.closest("[data-row]").querySelector("[data-value]").type = event.target.checked ? "password" : "text";
  });
}
