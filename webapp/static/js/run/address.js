// The state of the page in its address, so that a copied address shows the same. What is usual is left out.

// `values`: {name: text}; an empty text takes the name out.
export function remember(values) {
  const address = new URL(location.href);
  for (const [name, value] of Object.entries(values)) {
    if (value === "") address.searchParams.delete(name);
    else address.searchParams.set(name, value);
  }
  if (address.href !== location.href) history.replaceState(null, "", address);
}

export const remembered = name => new URLSearchParams(location.search).get(name) ?? "";

// `read()` takes the state from the address again: somebody went back or forward.
export const onBack = read => addEventListener("popstate", read);
