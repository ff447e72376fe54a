// A tab whose part is read when it is opened, and again every few seconds while it is open and `lives()`.
import {replace} from "./parts.js";
import {say} from "./words.js";

const EVERY_MS = 4000;

// `none`: the element that stands there before the part, and says so when it cannot be read.
export function lateTab(address, lives, none) {
  const came = new Map();
  let open = false, timer = null, reading = false;

  const read = async () => {
    clearTimeout(timer);
    if (!open || reading || !address) return;
    if (document.hidden) return wait();
    reading = true;
    const reply = await fetch(address, {headers: {"HX-Request": "true"}}).catch(() => null);
    reading = false;
    if (reply?.redirected) return location.reload();
    if (reply?.ok) replace(new DOMParser().parseFromString(await reply.text(), "text/html"), came);
    else fail();
    if (lives()) wait();
  };
  const fail = () => {
    const words = document.querySelector(none);
    if (words) words.textContent = say("part_not_read");
  };
  const wait = () => { timer = setTimeout(read, EVERY_MS); };
  return {
    read,
    shown: yes => {
      if (yes === open) return;
      open = yes;
      read();
    },
  };
}
