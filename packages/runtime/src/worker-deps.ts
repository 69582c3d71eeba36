import type { Database } from '@millrace/database/database';
import type { ExecutionStore, HttpClient } from '@millrace/engine';
import type { Logger } from 'pino';
import type { BorrowedSlots } from './borrowed-slots.ts';
import { Meters } from './meters/meters.ts';
import type { Services } from './node-services.ts';
import type { ExecutionNotifier } from './notifier.ts';
import type { PlanCache } from './plans.ts';
import type { RunDeps } from './run-deps.ts';
import type { NodeLimits, WorkerSettings } from './settings.ts';
import type { Tracer } from './tracing/tracer.ts';

export interface WorkerDeps {
  readonly config: { readonly worker: WorkerSettings; readonly limits: NodeLimits };
  readonly db: Database;
  readonly plans: PlanCache;
  readonly notifier: ExecutionNotifier;
  /** HTTP egress of an organisation's nodes. */
  readonly http: (organisationId: number) => HttpClient;
  readonly services: Services;
  /** Called with the number of workers that share the limits of organisations, including this one. */
  readonly onWorkersCounted?: (count: number) => void;
  /** Slots beyond the configured ones; none if absent. */
  readonly slots?: BorrowedSlots;
  readonly log: Logger;
  /** What this process counts; if absent, nobody reads it. */
  readonly meters?: Meters;
  /** Creates spans; absent or null if none are recorded. */
  readonly tracer?: Tracer | null;
  /** Random number in [0, 1) for the jitter of retries; Math.random when absent. */
  readonly random?: () => number;
}

/** The part that its runs need. */
export function toRunDeps(
  {
    config,
    plans,
    http,
    services,
    log,
    meters = new Meters(),
    tracer = null,
    random = Math.random,
  }: WorkerDeps,
  store: ExecutionStore,
  clock: RunDeps['clock'],
): RunDeps {
  const { nodeOutputBytes, executionBytes, nodeSteps } = config.limits;
  const { inlineWaitMs } = config.worker;
  const limits = { maxOutputBytes: nodeOutputBytes, maxExecutionBytes: executionBytes, inlineWaitMs };
  return { store, plans, clock, http, services, limits, maxSteps: nodeSteps, meters, tracer, log, random };
}
