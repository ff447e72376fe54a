// Goes back to the form, as it was left. A page that was opened by itself has nothing to go back to.
const button = document.querySelector("[data-back]");
button.hidden = history.length < 2;
button.addEventListener("click", () => history.back());
