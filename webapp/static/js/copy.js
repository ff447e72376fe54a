// A button with `data-copy="#id"` copies that element's text and says so for two seconds.
const write = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return byHand(text);
  }
};

// Plain http has no clipboard API except on localhost.
function byHand(text) {
  const area = Object.assign(document.createElement("textarea"), { value: text });
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

// On its label; a button that is only a picture says it by its name.
function say(button) {
  const label = button.querySelector("[data-copy-label]");
  const before = label ? label.textContent : button.ariaLabel;
  const write = (text) => { if (label) label.textContent = text; else button.ariaLabel = text; };
  const shape = button.querySelector("use");
  shape?.setAttribute("href", "#i-check");
  write(button.dataset.copied);
  button.disabled = true;
  setTimeout(() => {
    shape?.setAttribute("href", "#i-copy");
    write(before);
    button.disabled = false;
  }, 2000);
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = document.querySelector(button.dataset.copy);
  if (!(await write((source.value ?? source.textContent).trim()))) return;
  say(button);
});
