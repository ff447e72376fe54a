// Alerts as notifications of this browser, once a person has asked for them on the Alerts page of a project. It looks
// every 10 s, also while the tab is hidden: that is when they are needed.
const EVERY_MS = 10000;
const WANTED = "paceline-notify";
const CURSOR = "paceline-notify-cursor"; // kept, so that nothing is missed between two pages
const address = document.getElementById("notify").dataset.new;
const button = document.querySelector("[data-notify]");
const able = "Notification" in window;

const wanted = () => able && Notification.permission === "granted" && localStorage.getItem(WANTED) === "yes";

function show(alert) {
  // The tag makes one notification of it, however many tabs are open.
  const shown = new Notification(alert.title, { body: alert.text, tag: `paceline-alert-${alert.id}` });
  shown.addEventListener("click", () => {
    window.focus();
    location.assign(alert.url);
  });
}

async function look() {
  if (!wanted()) return;
  const after = localStorage.getItem(CURSOR);
  const answer = await fetch(after ? `${address}?after=${after}` : address).catch(() => null);
  if (!answer?.ok || answer.redirected) return;
  const found = await answer.json();
  localStorage.setItem(CURSOR, found.cursor);
  found.alerts.forEach(show);
}

function draw() {
  if (!button) return;
  button.hidden = !able;
  button.setAttribute("aria-pressed", wanted());
  const state = !able || Notification.permission === "denied" ? "refused" : wanted() ? "on" : "off";
  document.querySelector("[data-notify-says]").textContent = button.dataset[state];
  button.textContent = button.dataset[wanted() ? "stop" : "start"];
  button.disabled = state === "refused";
}

button?.addEventListener("click", async () => {
  if (wanted()) localStorage.removeItem(WANTED);
  else if ((await Notification.requestPermission()) === "granted") localStorage.setItem(WANTED, "yes");
  draw();
  look();
});

draw();
look();
setInterval(look, EVERY_MS);
