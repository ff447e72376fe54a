// What a person asked for by htmx and did not get is told above the page; what a page asks for by itself is not.
import { problemIn } from "./problem.js";

document.addEventListener("htmx:afterRequest", ({ detail: { requestConfig, successful, xhr } }) => {
  const messages = document.getElementById("messages");
  if (!messages || !["click", "submit"].includes(requestConfig.triggeringEvent?.type)) return;
  messages.querySelector("[data-refused]")?.remove();
  if (successful) return;
  const banner = document.createElement("div");
  banner.className = "banner banner--crit";
  banner.dataset.refused = "";
  banner.innerHTML = '<svg class="i" aria-hidden="true"><use href="#s-fail"/></svg><p></p>';
  banner.querySelector("p").textContent = problemIn(xhr.responseText) || messages.dataset.unreachable;
  messages.append(banner);
});
