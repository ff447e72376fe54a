// Sentences that the server translated, filled in here: say('points', {n: 3}). Numbers get thousands commas.
const texts = JSON.parse(document.getElementById("run-words").textContent);

export const number = (value, digits = 0) =>
  value.toLocaleString("en", {minimumFractionDigits: digits, maximumFractionDigits: digits});

export function say(key, fill = {}) {
  return texts[key].replace(/\{(\w+)\}/g, (_all, name) =>
    typeof fill[name] === "number" ? number(fill[name]) : fill[name]);
}
