import { setTimeout as pause } from 'node:timers/promises';
import type { Queryable } from '@millrace/database/database';

/** A final execution as it was seen. */
export interface Final {
  readonly id: number;
  readonly status: string;
  readonly completedAtMs: number;
  readonly error: string | null;
}

const INTERVAL_MS = 500;
/** Transactions may become visible later than others that ended after them. */
const OVERLAP = "interval '20 seconds'";

/** Notes every execution as soon as it is final, so that a later change is found. */
export class Watch {
  readonly finals = new Map<number, Final>();
  /** Executions that had not ended when the database was last asked. */
  #unfinished = 0;
  readonly #db: Queryable;
  readonly #loop: Promise<void>;
  #isOver = false;

  constructor(db: Queryable) {
    this.#db = db;
    this.#loop = this.#run();
  }

  get unfinished(): number {
    return this.#unfinished;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#loop;
  }

  async #run(): Promise<void> {
    let since: Date | null = null;
    while (!this.#isOver) {
      // The database is away now and then.
      const rows: (Final & { readonly at: Date })[] = await readFinals(this.#db, since).catch(() => []);
      for (const { at, ...final } of rows) {
        if (!this.finals.has(final.id)) this.finals.set(final.id, final);
        if (since === null || at > since) since = at;
      }
      this.#unfinished = await countUnfinished(this.#db).catch(() => this.#unfinished);
      await pause(INTERVAL_MS);
    }
  }
}

/** Final executions that ended since shortly before that time; all of them if it is null. */
export async function readFinals(
  db: Queryable,
  since: Date | null,
): Promise<(Final & { readonly at: Date })[]> {
  return await db.query(
    `SELECT id, status, completed_at AS at, error::text AS error,
       (extract(epoch FROM completed_at) * 1000)::double precision AS "completedAtMs"
     FROM executions WHERE completed_at IS NOT NULL AND ($1::timestamptz IS NULL OR completed_at > $1 - ${OVERLAP})`,
    [since],
  );
}

/** How many executions have not ended. */
export async function countUnfinished(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    'SELECT count(*) AS count FROM executions WHERE completed_at IS NULL',
  );
  return row?.count ?? 0;
}
