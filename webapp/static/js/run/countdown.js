// "Stopping, 12 s": seconds that are left until `data-until` (epoch seconds), then the words in `data-over`.
import {serverNow} from "../ages.js";

const labels = new WeakMap();

export function countDown() {
  for (const element of document.querySelectorAll("[data-until]")) {
    if (!labels.has(element)) labels.set(element, element.textContent);
    const left = Math.ceil(Number(element.dataset.until) - serverNow());
    element.textContent = left > 0 ? `${labels.get(element)}, ${left} s` : element.dataset.over;
  }
}
