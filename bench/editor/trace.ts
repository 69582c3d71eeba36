/** One event of Chromium's trace; times are in microseconds. */
export interface TraceEvent {
  readonly name: string;
  readonly ts: number;
  readonly dur?: number;
  readonly pid: number;
  readonly tid: number;
}

/** How smooth the traced actions looked, in milliseconds. */
export interface Smoothness {
  /** Times between drawn frames. */
  readonly frameMs: readonly number[];
  /** Total time the page's thread was busy. */
  readonly busyMs: number;
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
 * Frames and tasks of the page: of the thread with the most input.
 *
 * @throws Error if the trace has no input or no frames
 */
export function readSmoothness(events: readonly TraceEvent[]): Smoothness {
  const given = Map.groupBy(
    events.filter(({ name }) => name === 'EventDispatch'),
    ({ pid, tid }) => `${pid} ${tid}`,
  );
  const [most] = [...given.values()].toSorted((a, b) => b.length - a.length);
  const page = most?.[0];
  if (page === undefined) throw new Error('the trace holds no input');
  const drawn = events
    .filter(({ name, pid }) => name === 'DrawFrame' && pid === page.pid)
    .map(({ ts }) => ts)
    .toSorted((a, b) => a - b);
  if (drawn.length < 2) throw new Error('the trace holds no frames');
  const tasks = events
    .filter(({ name, pid, tid }) => name === 'RunTask' && pid === page.pid && tid === page.tid)
    .map(({ dur = 0 }) => dur / 1000);
  return {
    frameMs: drawn.slice(1).map((ts, at) => (ts - (drawn[at] ?? ts)) / 1000),
    busyMs: tasks.reduce((sum, ms) => sum + ms, 0),
    longestTaskMs: Math.max(0, ...tasks),
  };
}
