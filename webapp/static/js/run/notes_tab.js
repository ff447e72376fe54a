// The Notes tab: read when it is opened for the first time; what is sent from it answers with the tab anew.
import {mentionsIn} from "./mentions.js";

export function notesTab(address) {
  const part = () => document.querySelector('[data-part="notes"]');
  let open = false, isRead = false;

  const put = async reply => {
    if (reply?.redirected) return location.reload();
    if (!reply || (!reply.ok && reply.status !== 422)) return fail();
    const fresh = new DOMParser().parseFromString(await reply.text(), "text/html").querySelector('[data-part="notes"]');
    part().replaceWith(fresh);
    mentionsIn(fresh);
    isRead = true;
    fresh.querySelector("[aria-invalid=true]")?.focus();
  };
  const fail = () => {
    const words = document.querySelector("[data-notes-none]") ?? document.querySelector("[data-notes-failed]");
    if (words) Object.assign(words, {hidden: false, textContent: words.dataset.failed});
  };
  const send = async form => {
    const button = form.querySelector("button:not([type=button])");
    button.disabled = true;
    await put(await fetch(form.action, {method: "POST", body: new FormData(form)}).catch(() => null));
    button.disabled = false;
  };
  // Either the text or its form is seen.
  const edit = (name, yes) => {
    const form = part().querySelector(`[data-form="${name}"]`);
    form.hidden = !yes;
    part().querySelector(`[data-view="${name}"]`).hidden = yes;
    part().querySelector(`[data-edit="${name}"]`).hidden = yes;
    if (yes) form.querySelector("textarea").focus();
    else { form.reset(); part().querySelector(`[data-edit="${name}"]`).focus(); }
  };
  document.addEventListener("click", event => {
    const {edit: begin, editStop} = event.target.closest?.("[data-edit], [data-edit-stop]")?.dataset ?? {};
    if (begin || editStop) edit(begin ?? editStop, Boolean(begin));
  });
  document.addEventListener("submit", event => {
    if (!event.target.matches("form[data-notes]") || event.defaultPrevented) return;
    event.preventDefault();
    send(event.target);
  });
  return {
    shown: async yes => {
      if (yes && !open && !isRead && address) put(await fetch(address).catch(() => null));
      open = yes;
    },
  };
}
