// The legend of a chart that sets a subject against its ground.
export function keysOf({names, columns}, bad) {
  if (!names?.subject) return [];
  const line = columns ? "sw sw--line" : "sw";
  return [key(names.subject, line, `k-${bad}`), key(names.ground, line, columns ? "k-line" : "k-quiet")];
}

function key(text, shape, color) {
  const item = document.createElement("li"), swatch = document.createElement("i");
  swatch.className = `${shape} ${color}`;
  item.append(swatch, text);
  return item;
}
