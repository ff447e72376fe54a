// Tabs of the run page: one set of cards, of which each tab shows some (css/run.css). The tab is the address's hash.
import {onBack} from "./address.js";

const NAMES = [...document.querySelectorAll("[data-tab-link]")].map(link => link.dataset.tabLink);

// `opened(name)` is told which tab is shown.
export function tabs(page, opened) {
  const show = () => {
    const name = NAMES.includes(location.hash.slice(1)) ? location.hash.slice(1) : "metrics";
    page.dataset.tab = name;
    for (const link of document.querySelectorAll("[data-tab-link]")) {
      if (link.dataset.tabLink === name) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    opened(name);
    dispatchEvent(new Event("resize")); // charts fit the width that they have now
  };
  document.addEventListener("click", event => {
    const link = event.target.closest("[data-tab-link]");
    if (!link) return;
    event.preventDefault();
    if (location.hash !== `#${link.dataset.tabLink}`) history.pushState(null, "", `#${link.dataset.tabLink}`);
    show();
  });
  addEventListener("hashchange", show);
  onBack(show);
  show();
}
