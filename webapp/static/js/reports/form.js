// The list of a report's blocks: added, moved, removed. Their order is written into the form when it is sent.
const form = document.getElementById("report-form");
const list = form.querySelector("[data-blocks]");
const total = form.querySelector("[name=form-TOTAL_FORMS]");
const blocks = () => [...list.querySelectorAll("[data-block]")];

function add(kind) {
  const number = Number(total.value), place = document.createElement("ol");
  place.innerHTML = form.querySelector("[data-empty-block]").innerHTML.replaceAll("__prefix__", String(number));
  total.value = String(number + 1);
  const block = place.firstElementChild, runs = blocks().map(one => one.querySelector("[name$=-runs]").value).filter(Boolean);
  block.querySelector("[name$=-kind]").value = block.dataset.kind = kind;
  if (kind !== "text") block.querySelector("[name$=-runs]").value = runs.at(-1) ?? "";
  list.append(block);
  block.querySelector(kind === "text" ? "[name$=-text]" : "[name$=-runs]").focus();
}

list.addEventListener("click", event => {
  const button = event.target.closest("button"), block = button?.closest("[data-block]");
  if (!block) return;
  const shown = blocks().filter(one => !one.hidden), at = shown.indexOf(block);
  if ("up" in button.dataset && at > 0) shown[at - 1].before(block);
  else if ("down" in button.dataset && at < shown.length - 1) shown[at + 1].after(block);
  else if ("remove" in button.dataset) {
    block.querySelector("[name$=-DELETE]").checked = true;
    block.hidden = true;
  } else return;
  if (!block.hidden) button.focus();
});

list.addEventListener("change", ({target}) => {
  if (target.name?.endsWith("-kind")) target.closest("[data-block]").dataset.kind = target.value;
});

for (const button of form.querySelectorAll("[data-add]")) button.addEventListener("click", () => add(button.dataset.add));
form.addEventListener("submit", () => blocks().forEach((block, place) => { block.querySelector("[name$=-ORDER]").value = place + 1; }));
