// "Compare" over the runs list: the chosen runs side by side, or the first ones of all that match.
const button = document.querySelector("[data-compare]");

button?.addEventListener("click", () => {
  const form = button.form;
  const picked = [...document.querySelectorAll("[data-pick]:checked")].map(({value}) => value);
  const query = form.elements.all?.checked ? form.elements.state.value.replace(/^\?/, "") || "q=" : `runs=${picked.join(",")}`;
  location.assign(`${button.dataset.compare}?${query}`);
});
