import type { Logger } from 'pino';
import type { Stall } from './main-thread.ts';

/** At most one line in this time: an overloaded machine makes everything slow. */
const INTERVAL_MS = 1_000;

/** Logs what held the main thread: the first stall in a second, and with the next one, how many were left out. */
export function stallReporter(log: Logger): (stall: Stall) => void {
  let nextAt = Number.NEGATIVE_INFINITY;
  let leftOut = 0;
  return ({ executionId, nodeId, ms, endedAt }) => {
    if (endedAt < nextAt) {
      leftOut += 1;
      return;
    }
    const place = { execution_id: executionId, ...(nodeId === null ? {} : { node_id: nodeId }) };
    log.warn({ ...place, ms: Math.round(ms), left_out: leftOut }, 'main thread held by an execution');
    nextAt = endedAt + INTERVAL_MS;
    leftOut = 0;
  };
}
