import type { Queryable } from '../db/database.ts';
import { readDatabaseTime } from './statements.ts';

/**
 * The database's time without asking it each time: its last known time plus what the monotonic clock counted since.
 * So all workers agree whatever their hosts' clocks say, and a time told later is never earlier.
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
    this.#offsetMs = databaseMs - (sentAt + performance.now()) / 2;
  }

  /** Epoch milliseconds, whole. The host's own clock is used until the first {@link synchronise}. */
  now(): number {
    const offsetMs = this.#offsetMs ?? performance.timeOrigin;
    this.#lastMs = Math.max(this.#lastMs, Math.floor(offsetMs + performance.now()));
    return this.#lastMs;
  }
}
