/** Milliseconds without anything new after which a page is taken to be complete. */
export const QUIET_MS = 700;
const CHECK_MS = 100;

/** Parts that are being loaded because they are shown. */
let loading = 0;

/** Loads something that is shown: nothing is loaded in reserve meanwhile. */
export async function loadNow<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
  loading += 1;
  try {
    return await load();
  } finally {
    loading -= 1;
  }
}

/** Everything is shown: what isn't would be loaded later than what is for later. */
function isComplete(): boolean {
  return (
    loading === 0 &&
    document.readyState === 'complete' &&
    document.querySelector('.mantine-Skeleton-root') === null
  );
}

/** Calls back once the page is complete and has been idle for a while. @returns calls it off */
function whenQuiet(act: () => void): () => void {
  let quietMs = 0;
  let requests = 0;
  let before = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    const passed = now - before;
    before = now;
    const count = performance.getEntriesByType('resource').length;
    // A late check means that scripts were running, which may still ask for something.
    const isQuiet = isComplete() && count === requests && passed < 2 * CHECK_MS;
    requests = count;
    quietMs = isQuiet ? quietMs + passed : 0;
    if (quietMs < QUIET_MS) return;
    clearInterval(timer);
    act();
  }, CHECK_MS);
  return () => clearInterval(timer);
}

/**
 * Loads what the shown page doesn't need once it is complete and idle, so that it is there when it is opened, and when the connection is lost.
 *
 * @returns calls it off
 */
export function loadInReserve(load: () => Promise<unknown>): () => void {
  // Without a connection it is loaded when it is needed, and reported then.
  const start = () => void load().catch(() => undefined);
  let callOff = whenQuiet(() => {
    // Safari has no idle callbacks.
    if (typeof requestIdleCallback !== 'function') return start();
    const handle = requestIdleCallback(start);
    callOff = () => cancelIdleCallback(handle);
  });
  return () => callOff();
}
