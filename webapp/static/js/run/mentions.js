// "@" in a text field offers the project's members: arrows choose, Enter or Tab takes, Escape closes.
const MOST = 6;

export function mentionsIn(root) {
  const names = JSON.parse(root.querySelector("#note-members")?.textContent ?? "[]");
  for (const field of root.querySelectorAll(".comments textarea, [id^=comment_]")) complete(field, names);
}

function complete(field, names) {
  const list = Object.assign(document.createElement("ul"), {className: "mentions", id: `${field.id}-members`, hidden: true});
  list.setAttribute("role", "listbox");
  field.after(list);
  field.setAttribute("aria-controls", list.id);
  field.setAttribute("aria-autocomplete", "list");
  let found = [], chosen = 0;

  const typed = () => /(?:^|[^\w@/.`])@([\w.+-]*)$/.exec(field.value.slice(0, field.selectionStart))?.[1];
  const show = () => {
    list.replaceChildren(...found.map((name, i) => {
      const item = Object.assign(document.createElement("li"), {id: `${list.id}-${i}`, textContent: name});
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", String(i === chosen));
      item.addEventListener("mousedown", event => { event.preventDefault(); take(name); });
      return item;
    }));
    list.hidden = !found.length;
    if (found.length) field.setAttribute("aria-activedescendant", `${list.id}-${chosen}`);
    else field.removeAttribute("aria-activedescendant");
  };
  const look = () => {
    const part = typed()?.toLowerCase();
    found = part === undefined ? [] : names.filter(name => name.toLowerCase().startsWith(part)).slice(0, MOST);
    chosen = 0;
    show();
  };
  const close = () => { found = []; show(); };
  const take = name => {
    const at = field.selectionStart - typed().length;
    field.setRangeText(`${name} `, at, field.selectionStart, "end");
    close();
  };
  field.addEventListener("input", look);
  field.addEventListener("blur", close);
  field.addEventListener("keydown", event => {
    if (!found.length) return;
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (step) { chosen = (chosen + step + found.length) % found.length; show(); }
    else if (event.key === "Enter" || event.key === "Tab") take(found[chosen]);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
}
