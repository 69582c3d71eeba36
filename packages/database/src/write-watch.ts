import type { Queryable } from './database.ts';
import { isOutOfRoom, isReadOnly } from './errors.ts';

/** Why nothing can be written although the database answers. */
export type WriteObstacle = 'read_only' | 'out_of_room';

/** How long a probe that went well is believed. */
const PROBE_EVERY_MS = 30_000;
/** How long one that failed is. */
const RETRY_EVERY_MS = 1_000;
/** Enough to need room that is not there; fewer do while nothing has failed. */
const ROWS_IN_DOUBT = 32;
/** Half a page and more, so that each row has a page of its own. */
const FILLER_LENGTH = 7_900;

/**
 * Knows whether writes are possible: by what became of the writes of this process, and by one of its own now and then.
 * Asking it often costs nothing.
 */
export class WriteWatch {
  readonly #db: Queryable;
  #obstacle: WriteObstacle | null = null;
  #probedAt = Number.NEGATIVE_INFINITY;
  #probing: Promise<void> | null = null;
  /** Failures seen; one during a probe outweighs its success. */
  #failures = 0;

  constructor(db: Queryable) {
    this.#db = db;
  }

  /** Takes the outcome of a statement into account. */
  noteFailure(error: unknown): void {
    const obstacle = isOutOfRoom(error) ? 'out_of_room' : isReadOnly(error) ? 'read_only' : null;
    if (obstacle === null) return;
    this.#failures += 1;
    this.#obstacle = obstacle;
  }

  /** @throws DatabaseUnavailableError when the database is away */
  async check(): Promise<WriteObstacle | null> {
    const believedMs = this.#obstacle === null ? PROBE_EVERY_MS : RETRY_EVERY_MS;
    if (performance.now() - this.#probedAt > believedMs) {
      this.#probing ??= this.#probe().finally(() => {
        this.#probing = null;
      });
    }
    await this.#probing;
    return this.#obstacle;
  }

  async #probe(): Promise<void> {
    const failures = this.#failures;
    try {
      await this.#db.query(
        `WITH former AS (DELETE FROM write_probes)
         INSERT INTO write_probes (filler) SELECT repeat('x', $2) FROM generate_series(1, $1)`,
        [this.#obstacle === null ? 1 : ROWS_IN_DOUBT, FILLER_LENGTH],
      );
      if (this.#failures === failures) this.#obstacle = null;
    } catch (error) {
      this.noteFailure(error);
      if (this.#failures === failures) throw error;
    }
    this.#probedAt = performance.now();
  }
}
