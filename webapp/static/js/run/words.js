// Sentences that the server translated, filled in here: say('points', {n: 3}). Numbers are written as its language does.
import {language} from "../language.js";

const texts = JSON.parse(document.getElementById("run-words").textContent);

export const number = (value, digits = 0) =>
  value.toLocaleString(language, {minimumFractionDigits: digits, maximumFractionDigits: digits});

export const say = (key, values = {}) => fill(texts[key], values);

export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_all, name) =>
  typeof values[name] === "number" ? number(values[name]) : values[name]);
