import type { Queryable } from '@millrace/database/database';
import { readDatabaseTime } from './statements.ts';

/** Clocks that are kept right are moved by less than this. */
const SMALL_STEP_MS = 250;

/**
 * The database's time without asking it each time: its last known time plus what the monotonic clock counted since.
 * So all workers agree whatever their hosts' clocks say. A time told later is never earlier, but for a database whose own
 * clock was set back: then this one follows, or it would stand still until the database has caught up.
 */
export class DatabaseClock {
  readonly #db: Queryable;
  #offsetMs: number | null = null;
  #lastMs = 0;

  constructor(db: Queryable) {
    this.#db = db;
  }

  /** Asks the database; the answer is taken to be from the middle of the round trip. */
  async synchronise(): Promise<void> {
    const sentAt = performance.now();
    const databaseMs = await readDatabaseTime(this.#db);
    const answeredAt = performance.now();
    this.#offsetMs = databaseMs - (sentAt + answeredAt) / 2;
    const aheadMs = this.#lastMs - (this.#offsetMs + answeredAt);
    // What is less may come of the round trip alone, of which either way may have taken all the time.
    if (aheadMs > answeredAt - sentAt + SMALL_STEP_MS) this.#lastMs = 0;
  }

  /** Epoch milliseconds, whole. The host's own clock is used until the first {@link synchronise}. */
  now(): number {
    const offsetMs = this.#offsetMs ?? performance.timeOrigin;
    this.#lastMs = Math.max(this.#lastMs, Math.floor(offsetMs + performance.now()));
    return this.#lastMs;
  }
}
