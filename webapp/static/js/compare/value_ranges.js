// Ranges of values that somebody chose on axes: where they lie, what is inside of them. Pure.
// An axis is {word, title, values}; a range is [first, last] of its values, both inside.
import {language} from "../language.js";

const STEPS = 1000; // of an axis: a number is rounded to what a drag can tell apart
const NEAR = 1e-9;

export const isText = one => one.values.some(value => typeof value === "string");

const known = one => one.values.filter(value => value !== null);
const wordsOf = one => [...new Set(known(one).map(String))].sort();
const extent = one => [Math.min(...known(one)), Math.max(...known(one))];

export const figure = value => value.toLocaleString(language, {maximumSignificantDigits: 4,
  notation: Math.abs(value) >= 1e5 || (value && Math.abs(value) < 1e-3) ? "scientific" : "standard"}).toLowerCase();

// The names at the places of an axis: all words, or its least and greatest number.
export const endsOf = one => isText(one) ? wordsOf(one) : extent(one).map(figure);

// Place of each value between 0 and 1; null where there is none.
export function placesOf(one) {
  return one.values.map(value => value === null ? null : placeOf(one, value));
}

function placeOf(one, value) {
  if (isText(one)) {
    const words = wordsOf(one);
    return words.length < 2 ? 0.5 : words.indexOf(String(value)) / (words.length - 1);
  }
  const [low, high] = extent(one);
  return high === low ? 0.5 : (value - low) / (high - low);
}

export const hasRanges = one => new Set(known(one)).size > 1;

// The least step of a choice by keys, as a share of the axis.
export const stepOf = one => isText(one) ? 1 / (wordsOf(one).length - 1) : 0.02;

// The range between two places of the axis; null when that is all of it, or nothing.
export function rangeBetween(one, from, to) {
  if (from <= NEAR && to >= 1 - NEAR) return null;
  if (!isText(one)) return [valueAt(one, from), valueAt(one, to)];
  const inside = wordsOf(one).filter(word => placeOf(one, word) >= from - NEAR && placeOf(one, word) <= to + NEAR);
  return inside.length ? [inside[0], inside[inside.length - 1]] : null;
}

function valueAt(one, place) {
  const [low, high] = extent(one);
  if (place <= 0) return low;
  if (place >= 1) return high;
  const digits = Math.ceil(-Math.log10((high - low) / STEPS));
  return Number((low + place * (high - low)).toFixed(Math.min(100, Math.max(0, digits))));
}

// Where a range begins and ends; all of the axis without one.
export function placesOfRange(one, range) {
  return range ? range.map(value => Math.min(1, Math.max(0, placeOf(one, value)))) : [0, 1];
}

// The places of a range after it is moved by a share of the axis: as long as before, and words by whole steps.
export function moved(one, [from, to], by) {
  const step = isText(one) ? Math.round(by / stepOf(one)) * stepOf(one) : by;
  const inside = Math.min(1 - to, Math.max(-from, step));
  return [from + inside, to + inside];
}

export function isInside(one, value, [first, last]) {
  if (value === null) return false;
  return isText(one) ? first <= String(value) && String(value) <= last : first <= value && value <= last;
}

export const told = (one, [first, last]) => {
  const [from, to] = isText(one) ? [first, last] : [figure(first), figure(last)];
  return from === to ? `${one.title} ${from}` : `${one.title} ${from} – ${to}`;
};

// Of the chosen {word: [first, last]} those that an axis knows; in an address all are text.
export function rangesOf(axes, chosen) {
  const found = new Map();
  for (const one of axes.filter(hasRanges)) {
    if (!chosen.has(one.word)) continue;
    const range = isText(one) ? chosen.get(one.word).map(String) : chosen.get(one.word).map(Number);
    if (isText(one) ? range.every(word => wordsOf(one).includes(word)) : range.every(Number.isFinite)) found.set(one.word, range);
  }
  return found;
}
