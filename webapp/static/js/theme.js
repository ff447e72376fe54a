// Light and dark: the system's choice until the person makes one. Runs in the head, before the first paint.
(() => {
  const root = document.documentElement;
  const key = "paceline-theme";
  const system = matchMedia("(prefers-color-scheme: dark)");

  const stored = () => {
    try { return localStorage.getItem(key); } catch { return null; }
  };
  const store = (theme) => {
    try { localStorage.setItem(key, theme); } catch { /* private window: the choice lasts as long as the page */ }
  };
  const current = () => root.dataset.theme || (system.matches ? "dark" : "light");
  const announce = () => document.dispatchEvent(new CustomEvent("themechange", { detail: current() }));

  const first = stored();
  if (first === "light" || first === "dark") root.dataset.theme = first;

  system.addEventListener("change", announce);
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-toggle]")) return;
    root.dataset.theme = current() === "dark" ? "light" : "dark";
    store(root.dataset.theme);
    announce();
  });
})();
