import { Meters } from '@millrace/runtime/meters/meters';
import { createTriggerLoop, type TriggerLoop } from '@millrace/runtime/trigger-loop';
import { POLL_MS, type PollDeps, pollOnce } from './poll.ts';
import { type ClaimedPoll, claimDuePoll, readUntilDue, releasePoll } from './store.ts';

export interface PollerDeps extends PollDeps {
  /** What this process counts; if absent, nobody reads it. */
  readonly meters?: Meters;
}

/** Concurrent polls of one process: they mostly wait for other services, and each may take a few megabytes. */
const PARALLEL = 6;
/** The same for one organisation, so that its slow sources don't block others. */
const PARALLEL_OF_ORGANISATION = 3;
/** Longer than a poll may take, with the time to store what it found. */
const LEASE_MS = 2 * POLL_MS + 30_000;
/** Longest sleep, in case a notification is lost. */
const IDLE_MS = 60_000;
/** Pause while what is due can't begin. */
const BUSY_MS = 1_000;
/** A poll that can't be run is retried after this, and doesn't hold up the others. */
const FAULT_MS = 60_000;

/**
 * Runs due polls. Any number of processes may share a database: each poll is claimed by one of them, and what it finds is started once.
 */
export class Poller {
  readonly #deps: PollerDeps;
  readonly #meters: Meters;
  readonly #loop: TriggerLoop;
  readonly #running = new Set<Promise<void>>();
  /** How many polls run for each organisation. */
  readonly #byOrganisation = new Map<number, number>();

  constructor(deps: PollerDeps) {
    this.#deps = deps;
    this.#meters = deps.meters ?? new Meters();
    this.#loop = createTriggerLoop({
      db: deps.db,
      round: () => this.#round(),
      onFailure: (error) => deps.log.warn({ err: error }, 'could not look for due polls; retrying'),
    });
  }

  /** Starts polling. @throws DatabaseUnavailableError if the database is currently unavailable */
  start(): Promise<void> {
    return this.#loop.start();
  }

  /** Aborts running polls and releases their claims. Safe to call twice. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    await Promise.all(this.#running);
  }

  /** Runs every poll that is due now and returns the milliseconds until the next one; null if there is none. */
  async runDue(): Promise<number | null> {
    await this.#beginDue();
    while (this.#running.size > 0) {
      await Promise.race(this.#running);
      await this.#beginDue();
    }
    return readUntilDue(this.#deps.db);
  }

  /** @returns the milliseconds until the next one */
  async #round(): Promise<number> {
    await this.#beginDue();
    const untilDueMs = await readUntilDue(this.#deps.db);
    // What is still due waits for another poll of its organisation to end, or was just claimed by another process.
    const waitMs = Math.max(Math.min(untilDueMs ?? IDLE_MS, IDLE_MS), BUSY_MS);
    return Math.ceil(waitMs) + 1;
  }

  /** Starts polls until none is due or the limit is reached. */
  async #beginDue(): Promise<void> {
    while (this.#running.size < PARALLEL && !this.#loop.stopping.aborted) {
      const claimed = await this.#claim();
      if (claimed === undefined) return;
      this.#begin(claimed);
    }
  }

  #claim(): Promise<ClaimedPoll | undefined> {
    const counts = [...this.#byOrganisation];
    return claimDuePoll(this.#deps.db, {
      running: counts.map(([organisationId]) => organisationId),
      full: counts.filter(([, count]) => count >= PARALLEL_OF_ORGANISATION).map(([id]) => id),
      leaseMs: LEASE_MS,
    });
  }

  #begin(claimed: ClaimedPoll): void {
    this.#count(claimed, 1);
    const running = this.#poll(claimed).finally(() => {
      this.#count(claimed, -1);
      this.#running.delete(running);
      this.#loop.kick();
    });
    this.#running.add(running);
  }

  #count({ organisation_id: id }: ClaimedPoll, change: number): void {
    const count = (this.#byOrganisation.get(id) ?? 0) + change;
    if (count === 0) this.#byOrganisation.delete(id);
    else this.#byOrganisation.set(id, count);
  }

  async #poll(claimed: ClaimedPoll): Promise<void> {
    const { organisation_id: organisationId, workflow_id: workflowId } = claimed;
    try {
      const { outcome, started } = await pollOnce(this.#deps, claimed, this.#loop.stopping);
      this.#meters.polls.add(outcome);
      this.#meters.startsAccepted('poll', organisationId, started);
    } catch (error) {
      this.#deps.log.error({ err: error, workflow_id: workflowId }, 'could not poll; retrying in a minute');
      // If the database is unavailable, the claim expires.
      await releasePoll(this.#deps.db, claimed, FAULT_MS).catch(() => undefined);
    }
  }
}
