// What is shown of the chosen runs. All of it stands in the address, so that a link shows the same.
const {runs, metrics, turned} = JSON.parse(document.getElementById("compare-state").textContent);
const asked = new URLSearchParams(location.search);
const list = name => (asked.get(name) ?? "").split(",").filter(Boolean).map(decoded);
const USUAL = {axis: "step", smooth: "0", log: "", lo: "", hi: "", x: "", y: "", by: ""};

export const state = {
  runs, metrics, turned, hidden: new Set(list("hide")), within: ranges(),
  ...Object.fromEntries(Object.entries(USUAL).map(([name, usual]) => [name, asked.get(name) || usual])),
};

export const uids = () => runs.map(({uid}) => uid).join(",");
export const visible = () => runs.filter(({uid}) => !state.hidden.has(uid));

export function remember() {
  const query = new URLSearchParams(location.search);
  for (const [name, usual] of Object.entries(USUAL)) put(query, name, state[name] === usual ? "" : state[name]);
  put(query, "hide", [...state.hidden].join(","));
  put(query, "within", [...state.within].map(([word, range]) => [word, ...range].map(encodeURIComponent).join(":")).join(","));
  history.replaceState(null, "", `?${query.toString().replaceAll("%2C", ",")}`);
}

// Another choice of runs or metrics is another page.
export function go(changes) {
  const query = new URLSearchParams(location.search);
  for (const [name, many] of Object.entries(changes)) put(query, name, many.map(encodeURIComponent).join(","));
  location.assign(`?${query.toString().replaceAll("%2C", ",")}`);
}

// What is chosen on axes: {word: [first, last]}, in an address as `lr:0.1:0.4,…`.
function ranges() {
  const found = (asked.get("within") ?? "").split(",").map(one => one.split(":").map(decoded));
  return new Map(found.filter(one => one.length === 3).map(([word, ...range]) => [word, range]));
}

function put(query, name, text) {
  if (text) query.set(name, text);
  else query.delete(name);
}

// An address that somebody cut short or typed may hold what cannot be decoded: that is taken as it stands.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
