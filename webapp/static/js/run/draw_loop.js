// Collects what changed and draws it at most every `gap` ms, in one animation frame; at once after a quiet time.
export function drawLoop(draw, gap = 500) {
  const dirty = new Set();
  let timer = null, drawnAt = -Infinity;

  const flush = () => requestAnimationFrame(async () => {
    const ids = [...dirty];
    dirty.clear();
    drawnAt = performance.now();
    await Promise.all(ids.map(draw));
    timer = null;
    if (dirty.size) schedule();
  });
  const schedule = () => {
    if (timer !== null) return;
    timer = setTimeout(flush, Math.max(0, drawnAt + gap - performance.now()));
  };
  return id => { dirty.add(id); schedule(); };
}
