/** How long it may take to notice a change. */
const FRESH_MS = 5_000;

/**
 * Caches something that changes rarely: when it is requested and more than five seconds old, it is read again in the background. The first
 * request waits. While it can't be read, the last state is used.
 * @returns a function that returns the last state; null if none could be read yet
 */
export function cachedRead<State>(read: () => Promise<State>): () => Promise<State | null> {
  let state: State | null = null;
  let readAtMs = 0;
  let reading: Promise<void> | null = null;

  async function readOnce(): Promise<void> {
    state = await read();
    readAtMs = performance.now();
  }

  function refresh(): Promise<void> {
    // Callers that need the database will find out themselves that it is unavailable.
    reading ??= readOnce()
      .catch(() => {})
      .finally(() => {
        reading = null;
      });
    return reading;
  }

  return async () => {
    if (state === null) await refresh();
    else if (performance.now() - readAtMs > FRESH_MS) void refresh();
    return state;
  };
}
