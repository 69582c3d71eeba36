/** Runs work that knows nothing of a signal: `cut` makes it fail when the signal aborts, at once if it already has. */
export async function cutOnAbort<Result>(
  signal: AbortSignal,
  cut: () => void,
  work: () => Promise<Result>,
): Promise<Result> {
  signal.addEventListener('abort', cut, { once: true });
  if (signal.aborted) cut();
  try {
    return await work();
  } finally {
    signal.removeEventListener('abort', cut);
  }
}
