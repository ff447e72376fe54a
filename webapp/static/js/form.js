// A form with `data-live-form` is sent without leaving the page: when it is refused only the errors are drawn, so that
// chosen files and typed secrets stay. Also: the source of code shows its own fields, and a folder sends its paths.
import { language } from "./language.js";
import { problemIn } from "./problem.js";

const form = document.querySelector("form[data-live-form]");
const buttons = [...document.querySelectorAll("[data-sending]")];
const words = buttons.map((button) => button.textContent);
const SKIPPED = /(^|\/)(\.git|\.venv|venv|__pycache__|node_modules|\.mypy_cache|\.ruff_cache|\.pytest_cache)\//;

function sending(on) {
  buttons.forEach((button, i) => {
    button.disabled = on;
    button.textContent = on ? button.dataset.sending : words[i];
  });
}

const pathOf = (file) => file.webkitRelativePath || file.name;
const chosen = (input) => [...input.files].filter((file) => !SKIPPED.test(pathOf(file)));

function content() {
  const data = new FormData(form);
  const input = form.elements.folder;
  data.delete("folder");
  const files = form.elements.source.value === "upload" ? chosen(input) : [];
  for (const file of files) data.append("folder", file, file.name);
  data.set("paths", JSON.stringify(files.map(pathOf)));
  return data;
}

function showErrors(fresh) {
  for (const slot of form.querySelectorAll("[data-error-for]")) {
    const text = fresh.querySelector(`[data-error-for="${CSS.escape(slot.dataset.errorFor)}"]`)?.textContent.trim() ?? "";
    slot.textContent = text;
    for (const name of slot.dataset.errorFor.split(" ")) {
      const wrong = fresh.getElementsByName(name)[0]?.getAttribute("aria-invalid") === "true";
      for (const field of document.getElementsByName(name)) field.toggleAttribute("aria-invalid", false);
      if (wrong) document.getElementsByName(name)[0]?.setAttribute("aria-invalid", "true");
    }
  }
  const summary = document.getElementById("form-summary");
  const told = fresh.getElementById("form-summary");
  summary.replaceChildren(...(told?.childNodes ?? []));
  summary.hidden = !told || told.hidden;
  if (!summary.hidden) summary.focus();
}

async function send() {
  const answer = await fetch(form.action, { method: "POST", body: content() });
  if (answer.redirected) return location.assign(answer.url);
  const html = await answer.text();
  if (answer.status === 422) return showErrors(new DOMParser().parseFromString(html, "text/html"));
  const summary = document.getElementById("form-summary");
  summary.textContent = problemIn(html) || `${answer.status} ${answer.statusText}`;
  summary.hidden = false;
  summary.focus();
}

function showSource() {
  for (const part of form.querySelectorAll("[data-source-of]")) part.hidden = part.dataset.sourceOf !== form.elements.source.value;
}

function countFiles() {
  const note = form.querySelector("[data-folder-note]");
  const count = chosen(form.elements.folder).length;
  if (count) note.textContent = note.dataset.textMany.replace("%s", count.toLocaleString(language));
}

if (form) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    sending(true);
    try {
      await send();
    } catch (error) {
      const summary = document.getElementById("form-summary");
      summary.textContent = `${form.dataset.unreachable} (${error.message})`;
      summary.hidden = false;
    } finally {
      sending(false);
    }
  });
  form.addEventListener("change", (event) => {
    if (event.target.name === "source") showSource();
    if (event.target.name === "folder") countFiles();
  });
  showSource();
}
