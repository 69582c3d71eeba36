import type { ExecutionStatus } from '../../src/index.ts';

export const EXECUTION_EVENTS = ['claim', 'park', 'hand_back', 'complete', 'fail', 'cancel'] as const;
/**
 * Events of an execution. `claim`: a worker takes it (also one whose worker was lost); `park`: only waits are left; `hand_back`: its worker
 * shuts down.
 */
export type ExecutionEvent = (typeof EXECUTION_EVENTS)[number];

/** The status after each event; null where the event has no effect, as in every final status. */
const TRANSITIONS: Readonly<
  Record<ExecutionStatus, Readonly<Record<ExecutionEvent, ExecutionStatus | null>>>
> = {
  queued: {
    claim: 'running',
    park: null,
    hand_back: null,
    complete: null,
    fail: 'failed',
    cancel: 'cancelled',
  },
  running: {
    claim: 'running',
    park: 'waiting_async',
    hand_back: 'queued',
    complete: 'completed',
    fail: 'failed',
    cancel: 'cancelled',
  },
  waiting_async: {
    claim: 'running',
    park: null,
    hand_back: null,
    complete: null,
    fail: 'failed',
    cancel: 'cancelled',
  },
  completed: { claim: null, park: null, hand_back: null, complete: null, fail: null, cancel: null },
  failed: { claim: null, park: null, hand_back: null, complete: null, fail: null, cancel: null },
  cancelled: { claim: null, park: null, hand_back: null, complete: null, fail: null, cancel: null },
};

/** The status after an event, or null when the event has no effect. */
export function transition(status: ExecutionStatus, event: ExecutionEvent): ExecutionStatus | null {
  return TRANSITIONS[status][event];
}
