import type { Queryable } from './database.ts';
import { isDiskFull, isReadOnly } from './errors.ts';

/** Why writes fail although the database responds. */
export type WriteObstacle = 'read_only' | 'disk_full';

/** How long a successful probe is trusted. */
const PROBE_EVERY_MS = 30_000;
/** How long a failed probe is trusted. */
const RETRY_EVERY_MS = 1_000;
/** Enough rows to require new space; fewer are written while nothing has failed. */
const ROWS_IN_DOUBT = 32;
/** More than half a page, so that each row needs a separate page. */
const FILLER_LENGTH = 7_900;

/**
 * Tracks whether writes are possible: by the outcome of this process's writes, and by an occasional probe. Frequent checks cost nothing.
 */
export class WriteWatch {
  readonly #db: Queryable;
  #obstacle: WriteObstacle | null = null;
  #probedAt = Number.NEGATIVE_INFINITY;
  #probing: Promise<void> | null = null;
  /** Failures so far; one during a probe outweighs its success. */
  #failures = 0;

  constructor(db: Queryable) {
    this.#db = db;
  }

  noteFailure(error: unknown): void {
    const obstacle = isDiskFull(error) ? 'disk_full' : isReadOnly(error) ? 'read_only' : null;
    if (obstacle === null) return;
    this.#failures += 1;
    this.#obstacle = obstacle;
  }

  /** @throws DatabaseUnavailableError when the database is unavailable */
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
