// Which ranks have an open incident, as the strip over the charts says it: rank -> warn | crit | idle.
const SHAPES = {warn: "▲", crit: "⬢", idle: "•"};

export function incidentRanks() {
  const text = document.querySelector("[data-incident-ranks]")?.dataset.incidentRanks;
  return text ? JSON.parse(text) : {};
}

export const shapeOf = tone => SHAPES[tone];
