// The Ledger tab: read when it is opened, and again every few seconds while it is open and the attempt lives.
import {replace} from "./parts.js";
import {say} from "./words.js";

const EVERY_MS = 4000;

export function ledgerTab(address, lives) {
  const came = new Map();
  let open = false, timer = null, reading = false;

  const read = async () => {
    clearTimeout(timer);
    if (!open || reading) return;
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
    const words = document.querySelector("[data-ledger-none]");
    if (words) words.textContent = say("ledger_not_read");
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
