// The live runs list: a server-sent event says that some run changed; then, at most every 2 s, the same page is
// fetched as parts and only what differs is replaced. Nothing is open while the tab is hidden.
const EVERY_MS = 2000;
const list = document.querySelector("[data-live-list]");

let source = null;
let after = list?.dataset.after ?? "";
let timer = 0;
let last = 0;
let fetching = false;
let again = false; // something changed while the parts were on their way

// What a part says apart from its times, which this browser writes.
function content(part) {
  const copy = part.cloneNode(true);
  for (const time of copy.querySelectorAll("[data-since], [data-at]")) {
    time.textContent = "";
    time.removeAttribute("title");
    time.removeAttribute("tabindex");
  }
  return copy.outerHTML;
}

function replace(old, fresh) {
  const focused = old.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  const picked = old.querySelector("[data-pick]")?.checked;
  old.replaceWith(fresh);
  if (picked) fresh.querySelector("[data-pick]").checked = true;
  if (focused) fresh.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus();
}

function patch(fresh) {
  const old = document.getElementById(fresh.id);
  if (old && content(old) !== content(fresh)) replace(old, fresh);
}

// Rows keep their order and identity: a row is moved or replaced only when it has to be.
function patchRows(body, fresh) {
  const ids = new Set([...fresh.rows].map((row) => row.id));
  for (const row of [...body.rows]) if (!ids.has(row.id)) row.remove();
  [...fresh.rows].forEach((row, place) => {
    patch(row);
    const here = document.getElementById(row.id) ?? row;
    if (body.rows[place] !== here) body.insertBefore(here, body.rows[place] ?? null);
  });
}

async function fetchParts() {
  if (list.hasAttribute("data-live-reload")) return location.reload();
  const answer = await fetch(location.href, { headers: { "X-Live": "list" } }).catch(() => null);
  if (!answer?.ok || answer.redirected) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of fresh.querySelectorAll("[data-live-part]:not(tbody)")) patch(part);
  patchRows(document.getElementById("rows"), fresh.getElementById("rows"));
  dispatchEvent(new Event("rowschanged"));
}

async function refresh() {
  timer = 0;
  fetching = true;
  await fetchParts();
  fetching = false;
  last = performance.now();
  if (!again) return;
  again = false;
  soon();
}

function soon() {
  if (fetching) again = true;
  if (fetching || timer) return;
  timer = setTimeout(refresh, Math.max(0, last + EVERY_MS - performance.now()));
}

function open() {
  if (source || document.hidden) return;
  source = new EventSource(`${list.dataset.liveList}?after=${encodeURIComponent(after)}`);
  source.addEventListener("frame", (event) => {
    after = event.lastEventId || after;
    soon();
  });
}

function close() {
  source?.close();
  source = null;
  clearTimeout(timer);
  timer = 0;
}

if (list) {
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return close();
    open();
    soon();
  });
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
  open();
}
