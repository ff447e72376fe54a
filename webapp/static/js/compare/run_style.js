// How runs look in every chart of a comparison: at most ten have a colour, the others are grey and lie below.
import {token} from "../run/chart_style.js";

const LONGEST = 22;

export const colourOf = run => token(run.colour === null ? "c-quiet" : `run-${run.colour}`);
export const short = (name, longest = LONGEST) => name.length > longest ? `${name.slice(0, longest - 1)}…` : name;
export const escaped = text => text.replace(/[&<>]/g, sign => ({"&": "&amp;", "<": "&lt;", ">": "&gt;"}[sign]));
export const greyFirst = runs => [...runs].sort((a, b) => (b.colour === null) - (a.colour === null));
