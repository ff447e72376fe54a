// Sentences that the server translated, filled in here: say('points', {n: 3}). Numbers are written as its language does.
import {language} from "../language.js";

const texts = JSON.parse(document.getElementById("run-words").textContent);

export const number = (value, digits = 0) =>
  value.toLocaleString(language, {minimumFractionDigits: digits, maximumFractionDigits: digits});

export function say(key, fill = {}) {
  return texts[key].replace(/\{(\w+)\}/g, (_all, name) =>
    typeof fill[name] === "number" ? number(fill[name]) : fill[name]);
}
