import type { Queryable } from '@millrace/database/database';
import { readDatabaseTime } from './statements.ts';

/** A well-synchronised clock is adjusted by less than this. */
const SMALL_STEP_MS = 250;
/** How far two clocks may drift apart in a second. */
const DRIFT_MS_PER_S = 0.5;

/**
 * The database's time without a query for each reading: its last known time plus the time elapsed on the monotonic clock.
 * All workers therefore agree, regardless of their hosts' clocks. A reading is accurate to half of its round trip, so one that
 * took long is only used if the earlier one can't be right any more (Cristian, 1989). Time never goes backwards unless the database's own clock
 * was set back; then this one follows, or it would stand still until the database had caught up.
 */
export class DatabaseClock {
  readonly #db: Queryable;
  #offsetMs: number | null = null;
  /** How far the offset may have been off when it was read. */
  #errorMs = 0;
  #readAtMs = 0;
  #lastMs = 0;

  constructor(db: Queryable) {
    this.#db = db;
  }

  /** Queries the database; the result is assumed to be from the middle of the round trip. */
  async synchronise(): Promise<void> {
    const sentAt = performance.now();
    const databaseMs = await readDatabaseTime(this.#db);
    const answeredAt = performance.now();
    const offsetMs = databaseMs - (sentAt + answeredAt) / 2;
    const errorMs = (answeredAt - sentAt) / 2;
    const knownErrorMs = this.#errorMs + ((answeredAt - this.#readAtMs) / 1_000) * DRIFT_MS_PER_S;
    const isPossible =
      this.#offsetMs !== null && Math.abs(offsetMs - this.#offsetMs) <= errorMs + knownErrorMs;
    if (isPossible && knownErrorMs < errorMs) return;
    this.#offsetMs = offsetMs;
    this.#errorMs = errorMs;
    this.#readAtMs = answeredAt;
    const aheadMs = this.#lastMs - (this.#offsetMs + answeredAt);
    // A smaller difference may be due to the round trip alone, as either direction may have taken all of it.
    if (aheadMs > answeredAt - sentAt + SMALL_STEP_MS) this.#lastMs = 0;
  }

  /** Epoch milliseconds, an integer. Uses the host's own clock until the first {@link synchronise}. */
  now(): number {
    const offsetMs = this.#offsetMs ?? performance.timeOrigin;
    this.#lastMs = Math.max(this.#lastMs, Math.floor(offsetMs + performance.now()));
    return this.#lastMs;
  }
}
