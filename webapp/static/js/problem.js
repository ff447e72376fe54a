// What a page of an error says, for who has sent something without leaving the page; empty if it is no such page.
export function problemIn(html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  return ["h1", ".problem__text"].map((part) => page.querySelector(`.problem ${part}`)?.textContent.trim()).filter(Boolean).join(". ");
}
