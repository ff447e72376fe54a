// Chosen rows: how many they are, all of the page at once, and then all that match.
const bulk = document.querySelector("#bulk");
const boxes = () => [...document.querySelectorAll("[data-pick]")];

function count() {
  const every = boxes();
  const picked = every.filter((box) => box.checked).length;
  const label = bulk.querySelector("[data-picked]");
  label.textContent = label.dataset.picked.replace("{n}", picked);
  const whole = document.querySelector("[data-pick-all]");
  if (whole) {
    whole.checked = picked > 0 && picked === every.length;
    whole.indeterminate = picked > 0 && picked < every.length;
  }
  const all = bulk.querySelector("[data-all]");
  all.hidden = picked < every.length;
  if (all.hidden) all.querySelector("input").checked = false;
}

if (bulk) {
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-pick-all]")) for (const box of boxes()) box.checked = event.target.checked;
    if (event.target.matches("[data-pick], [data-pick-all]")) count();
  });
  addEventListener("rowschanged", count);
  addEventListener("pageshow", count);
}
