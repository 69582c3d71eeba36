import type { Database } from '@millrace/database/database';
import { DatabaseUnavailableError } from '@millrace/database/errors';
import { Meters } from '@millrace/runtime/meters/meters';
import type { ExecutionNotifier } from '@millrace/runtime/notifier';
import type { PlanCache } from '@millrace/runtime/plans';
import { readDatabaseTime } from '@millrace/runtime/statements';
import { createTriggerLoop, type TriggerLoop } from '@millrace/runtime/trigger-loop';
import type { Logger } from 'pino';
import { fireSchedule, type RecordedFire, startQueued } from './fire.ts';
import { claimDueSchedule, listAwaitedExecutions, postponeSchedule, readNextDue } from './store.ts';

export interface SchedulerDeps {
  readonly db: Database;
  readonly plans: PlanCache;
  readonly notifier: ExecutionNotifier;
  readonly log: Logger;
  /** What this process counts; if absent, nobody reads it. */
  readonly meters?: Meters;
  /** Epoch milliseconds; defaults to the database's clock, so that all processes agree regardless of their hosts' clocks. */
  readonly now?: () => Promise<number>;
  /** Maximum polling interval in all cases; by default it chooses one itself. */
  readonly pollMs?: number;
}

/** Polling interval, in case a notification is lost. */
const POLL_MS = 60_000;
/** The same while fires are waiting for an execution to end. */
const QUEUE_POLL_MS = 5_000;
/** Pause while another process is handling what is due. */
const BUSY_MS = 100;
/** A schedule that can't be fired is retried after this, and doesn't hold up the others. */
const FAULT_MS = 60_000;
/** Concurrent transactions: on the hour many schedules are due, and requests need connections too. */
const PARALLEL = 2;
/** Executions whose end is listened for; the poll covers any beyond that. */
const MAX_AWAITED = 1_000;

/**
 * Starts what is due by schedule. Any number of processes may do so on one database: each fire is claimed by one of them,
 * and a recorded fire is never started again.
 */
export class Scheduler {
  readonly #deps: SchedulerDeps;
  readonly #meters: Meters;
  readonly #now: () => Promise<number>;
  readonly #loop: TriggerLoop;
  /** Functions that stop listening for the end of an execution, by its id. */
  readonly #awaited = new Map<number, () => void>();

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
    this.#meters = deps.meters ?? new Meters();
    this.#now = deps.now ?? (() => readDatabaseTime(deps.db));
    this.#loop = createTriggerLoop({
      db: deps.db,
      round: async () => this.#pause(await this.runDue()),
      onFailure: (error) => deps.log.warn({ err: error }, 'could not check schedules; retrying'),
    });
  }

  /** Starts firing. @throws DatabaseUnavailableError if the database is currently unavailable */
  start(): Promise<void> {
    return this.#loop.start();
  }

  /** Stops after the current work. Safe to call twice. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    this.#listenFor([]);
  }

  /** Fires everything that is due now and returns the milliseconds until the next fire; null if there is none. */
  async runDue(): Promise<number | null> {
    const { db } = this.#deps;
    await Promise.all(Array.from({ length: PARALLEL }, () => this.#fireAll()));
    while (!this.#loop.stopping.aborted && (await this.#startQueued())) {
      // One at a time: others of the same schedule may be waiting for it.
    }
    this.#listenFor(await listAwaitedExecutions(db, MAX_AWAITED));
    const dueAt = await readNextDue(db);
    return dueAt === null ? null : dueAt.getTime() - (await this.#now());
  }

  #pause(untilNextMs: number | null): number {
    const poll = this.#deps.pollMs ?? (this.#awaited.size > 0 ? QUEUE_POLL_MS : POLL_MS);
    if (untilNextMs === null) return poll;
    // Timers may fire a fraction of a millisecond early.
    return untilNextMs <= 0 ? BUSY_MS : Math.min(Math.ceil(untilNextMs) + 1, poll);
  }

  async #fireAll(): Promise<void> {
    while (!this.#loop.stopping.aborted) {
      const nowMs = await this.#now();
      let claimedId: number | null = null;
      try {
        const fired = await this.#deps.db.transaction(async (tx) => {
          const schedule = await claimDueSchedule(tx, new Date(Math.floor(nowMs)));
          claimedId = schedule?.workflow_id ?? null;
          return schedule === undefined ? [] : await fireSchedule(tx, this.#deps.plans, schedule, nowMs);
        });
        this.#count(fired);
      } catch (error) {
        if (claimedId === null || error instanceof DatabaseUnavailableError) throw error;
        await this.#postpone(claimedId, nowMs, error);
      }
      if (claimedId === null) return;
    }
  }

  async #postpone(workflowId: number, nowMs: number, error: unknown): Promise<void> {
    this.#deps.log.error(
      { err: error, workflow_id: workflowId },
      'could not fire a schedule; retrying in a minute',
    );
    await postponeSchedule(this.#deps.db, workflowId, new Date(Math.floor(nowMs)), FAULT_MS);
  }

  async #startQueued(): Promise<boolean> {
    const nowMs = await this.#now();
    const looked = await this.#deps.db.transaction((tx) => startQueued(tx, this.#deps.plans, nowMs));
    if (looked === null) return false;
    if (looked.startedFor !== null) this.#meters.startsAccepted('schedule', looked.startedFor);
    return true;
  }

  #count(fires: readonly RecordedFire[]): void {
    for (const { organisationId, outcome, lateMs } of fires) {
      this.#meters.fires.add(outcome);
      this.#meters.lateness.observe(Math.max(lateMs, 0) / 1000);
      if (outcome === 'started') this.#meters.startsAccepted('schedule', organisationId);
    }
  }

  #listenFor(executionIds: readonly number[]): void {
    const wanted = new Set(executionIds);
    for (const [id, unsubscribe] of this.#awaited) {
      if (wanted.has(id)) continue;
      unsubscribe();
      this.#awaited.delete(id);
    }
    for (const id of wanted) {
      if (this.#awaited.has(id)) continue;
      this.#awaited.set(
        id,
        this.#deps.notifier.subscribe(id, () => this.#loop.kick()),
      );
    }
  }
}
