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

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = document.querySelector(button.dataset.copy);
  if (!(await write((source.value ?? source.textContent).trim()))) return;
  const label = button.querySelector("[data-copy-label]") ?? button;
  const before = label.textContent;
  const shape = button.querySelector("use");
  shape?.setAttribute("href", "#i-check");
  label.textContent = button.dataset.copied;
  button.disabled = true;
  setTimeout(() => {
    shape?.setAttribute("href", "#i-copy");
    label.textContent = before;
    button.disabled = false;
  }, 2000);
});
