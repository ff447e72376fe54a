// The page's language, for numbers and dates.
export const language = document.documentElement.lang || "en";

const parts = new Intl.NumberFormat(language).formatToParts(1000.5);
const sign = (type) => parts.find((part) => part.type === type).value;

// As Plotly's layout wants them: the decimal sign, then the one between thousands.
export const separators = sign("decimal") + sign("group");
