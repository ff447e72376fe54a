// Ages that tick. `data-since`: epoch seconds by the server's clock. `data-age`: "full" (10 m 12 s), "short" (10 m)
// or "ago" (10 m ago). With `data-late` and `data-stale` (seconds) the nearest `[data-freshness]` gets the class late
// or stale and its shape changes with it.
const root = document.documentElement;
const ahead = root.dataset.now ? Number(root.dataset.now) - performance.timeOrigin / 1000 - performance.now() / 1000 : 0;
const pad = (n) => String(n).padStart(2, "0");
const SHAPES = { late: "#s-late", stale: "#s-stale", "": "#s-fresh" };

// Seconds since the epoch by the server's clock.
export const serverNow = () => Date.now() / 1000 + ahead;

// Seconds to words, as the filter `duration` of runs/templatetags/figures.py writes them.
export function duration(seconds, short = false) {
  const s = Math.max(0, Math.floor(seconds));
  if (s < 60) return `${s} s`;
  const m = Math.floor(s / 60);
  if (m < 60) return short ? `${m} m` : `${m} m ${pad(s % 60)} s`;
  const h = Math.floor(m / 60);
  if (h < 48) return `${h} h ${pad(m % 60)} m`;
  return `${Math.floor(h / 24)} d ${h % 24} h`;
}

function text(element, age) {
  if (element.dataset.age !== "ago") return duration(age, element.dataset.age === "short");
  if (age >= 86400) return element.textContent;
  const words = age < 3600 ? duration(age, true) : `${Math.floor(age / 3600)} h`;
  return (root.dataset.ago || "%s").replace("%s", words);
}

function freshen(element, age) {
  const place = element.closest("[data-freshness]");
  if (!place || !element.dataset.late) return;
  const state = age >= Number(element.dataset.stale) ? "stale" : age >= Number(element.dataset.late) ? "late" : "";
  place.classList.toggle("late", state === "late");
  place.classList.toggle("stale", state === "stale");
  place.querySelector("use")?.setAttribute("href", SHAPES[state]);
}

function tick() {
  if (document.hidden) return;
  const now = serverNow();
  for (const element of document.querySelectorAll("[data-since]")) {
    const age = now - Number(element.dataset.since);
    const words = text(element, age);
    if (element.textContent !== words) element.textContent = words;
    freshen(element, age);
  }
}

setInterval(tick, 1000);
document.addEventListener("visibilitychange", tick);
tick();
