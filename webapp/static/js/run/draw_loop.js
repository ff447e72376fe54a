// Collects what changed and draws it at most every `gap` ms; at once after a quiet time. Charts are drawn one after the
// other with a frame in between, so that the first ones stand soon and the page stays quick to the touch.
const nextFrame = () => new Promise(requestAnimationFrame);

// `slow(id)` is true for what may wait for every fourth round.
export function drawLoop(draw, slow, gap = 500) {
  const dirty = new Set();
  let timer = null, drawnAt = -Infinity, round = 0;

  const flush = async () => {
    drawnAt = performance.now();
    const skipped = round++ % 4 ? slow : () => false;
    for (const id of [...dirty].filter(id => !skipped(id))) {
      await nextFrame();
      dirty.delete(id);
      await draw(id);
    }
    timer = null;
    if (dirty.size) schedule();
  };
  const schedule = () => {
    if (timer !== null) return;
    timer = setTimeout(flush, Math.max(0, drawnAt + gap - performance.now()));
  };
  return id => { dirty.add(id); schedule(); };
}
