/** The mark in the page's timeline after which nothing is loaded for what is shown. */
export const IN_RESERVE = 'loaded in reserve';

/**
 * Loads what the shown page doesn't need yet as soon as it is idle, so that it is there when the connection is lost.
 *
 * @returns calls it off
 */
export function loadInReserve(load: () => Promise<unknown>): () => void {
  const start = () => {
    performance.mark(IN_RESERVE);
    // Without a connection it is loaded when it is needed, and reported then.
    load().catch(() => undefined);
  };
  // Safari has no idle callbacks.
  if (typeof requestIdleCallback !== 'function') {
    const timer = setTimeout(start, 1_000);
    return () => clearTimeout(timer);
  }
  const handle = requestIdleCallback(start);
  return () => cancelIdleCallback(handle);
}
