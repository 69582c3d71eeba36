/** One event of Chromium's trace; times are microseconds. */
export interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly ts: number;
  readonly dur?: number;
  readonly pid: number;
  readonly tid: number;
}

/** How smooth what was traced looked, in milliseconds. */
export interface Smoothness {
  /** Times between frames that were drawn. */
  readonly frameMs: readonly number[];
  /** The longest that the page's thread was busy in one go. */
  readonly longestTaskMs: number;
}

/** Categories that {@link readSmoothness} needs. */
export const TRACE_CATEGORIES = [
  'devtools.timeline',
  'disabled-by-default-devtools.timeline',
  'disabled-by-default-devtools.timeline.frame',
] as const;

/** Reads a trace as Chromium writes it. */
export function parseTrace(text: string): readonly TraceEvent[] {
  const trace = JSON.parse(text) as { readonly traceEvents: readonly TraceEvent[] };
  return trace.traceEvents;
}

/**
 * Frames and tasks of the page's process: the one that has fired most animation frames.
 *
 * @throws Error when the trace holds no frames
 */
export function readSmoothness(events: readonly TraceEvent[]): Smoothness {
  const fired = events.filter(({ name }) => name === 'FireAnimationFrame');
  const pages = Map.groupBy(fired, ({ pid, tid }) => `${pid} ${tid}`);
  const [page] = [...pages.entries()].toSorted(([, a], [, b]) => b.length - a.length);
  if (page === undefined) throw new Error('the trace holds no animation frames');
  const [key] = page;
  const pid = Number(key.split(' ')[0]);
  const drawn = events
    .filter((event) => event.name === 'DrawFrame' && event.pid === pid)
    .map(({ ts }) => ts)
    .toSorted((a, b) => a - b);
  if (drawn.length < 2) throw new Error('the trace holds no frames');
  const tasks = events.filter(
    (event) => event.name === 'RunTask' && `${event.pid} ${event.tid}` === key && event.dur !== undefined,
  );
  return {
    frameMs: drawn.slice(1).map((ts, at) => (ts - (drawn[at] ?? ts)) / 1000),
    longestTaskMs: Math.max(0, ...tasks.map(({ dur = 0 }) => dur / 1000)),
  };
}
