// Says what hinders a security key. allauth's scripts ask the browser for the key and tell what it threw.
const banner = document.querySelector("[data-key-trouble]");

function say(what) {
  banner.querySelector("p").textContent = banner.dataset[what];
  banner.hidden = false;
}

const WHAT = { SecurityError: "elsewhere", InvalidStateError: "known" };

document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  say(WHAT[event.detail.exception?.name] ?? "refused");
});

if (!window.PublicKeyCredential) say("elsewhere");
