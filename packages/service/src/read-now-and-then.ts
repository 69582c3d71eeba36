/** How long it may take to notice a change. */
const FRESH_MS = 5_000;

/**
 * What one process knows of something that changes rarely: it is read again, in the background, when it is asked for and more than five seconds old.
 * The first one to ask waits. While it can't be read, the last state is used.
 * @returns a function that returns the last state; null if none could be read yet
 */
export function readNowAndThen<State>(read: () => Promise<State>): () => Promise<State | null> {
  let state: State | null = null;
  let readAtMs = 0;
  let reading: Promise<void> | null = null;

  async function readOnce(): Promise<void> {
    state = await read();
    readAtMs = performance.now();
  }

  function refresh(): Promise<void> {
    // What needs the database finds out itself that it is away.
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
