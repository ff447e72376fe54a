// The dialog that makes links to the run and takes them back. The server draws its content anew after every act.
const dialog = document.getElementById("share");

async function show(address, body) {
  const reply = await fetch(address, body && {method: "POST", body}).catch(() => null);
  if (reply?.redirected) return location.reload();
  if (!reply || (!reply.ok && reply.status !== 422)) {
    dialog.replaceChildren(Object.assign(document.createElement("p"), {className: "card__p", textContent: dialog.dataset.failed}));
  } else dialog.innerHTML = await reply.text();
  if (!dialog.open) dialog.showModal();
}

document.addEventListener("click", event => {
  if (event.target.closest("[data-share]")) show(dialog.dataset.address);
  else if (event.target === dialog || event.target.closest("[data-share-close]")) dialog.close();
});
dialog.addEventListener("submit", event => {
  event.preventDefault();
  const form = event.target;
  if (form.elements.view) form.elements.view.value = location.search + location.hash; // as it is seen at this moment
  show(form.action, new FormData(form));
});
