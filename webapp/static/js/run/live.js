// The run's event stream. A hidden tab closes it and opens it again where it stopped, so nothing is missed.
const SLOWEST_MS = 15000;

// `after` is the stream id that the server noted before it read what the page shows.
export function follow(address, after, onFrame) {
  let source = null, wait = 500, timer = null, done = false;

  const open = () => {
    if (done || source || document.hidden) return;
    source = new EventSource(`${address}?after=${encodeURIComponent(after)}`);
    source.addEventListener("frame", event => {
      wait = 500;
      if (event.lastEventId) after = event.lastEventId;
      onFrame(JSON.parse(event.data));
    });
    source.addEventListener("error", () => {
      // A dropped connection comes back by itself with Last-Event-ID; a refused one does not.
      if (source?.readyState !== EventSource.CLOSED) return;
      close();
      timer = setTimeout(open, wait);
      wait = Math.min(SLOWEST_MS, wait * 2);
    });
  };
  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };
  const onVisibility = () => document.hidden ? close() : open();
  document.addEventListener("visibilitychange", onVisibility);
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
  open();
  return {
    end: () => {
      done = true;
      close();
      document.removeEventListener("visibilitychange", onVisibility);
    },
  };
}
