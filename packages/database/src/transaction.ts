import type { Connection } from './connection.ts';
import type { Queryable } from './database.ts';
import { isRetryable, StaleStatementError, TransactionRolledBackError } from './errors.ts';
import type { TransactionPool } from './transaction-pool.ts';

const MAX_ATTEMPTS = 5;

/**
 * Runs `work` in a transaction, again when PostgreSQL asks for it (deadlock, serialisation failure, tables that were migrated under a
 * prepared statement).
 * @param organisationId limits visible and writable rows to this organisation; null for all
 */
export async function runTransaction<T>(
  sessions: TransactionPool,
  organisationId: number | null,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  return await retried(() => runOnce(sessions, organisationId, work));
}

/**
 * Runs one statement that only reads in a transaction of its own, which goes out as a whole: it takes one round trip instead of three. Again when
 * PostgreSQL asks for it.
 * @param organisationId limits visible rows to this organisation
 */
export async function runRead<T>(
  sessions: TransactionPool,
  organisationId: number,
  read: (tx: Queryable) => Promise<T>,
): Promise<T> {
  return await retried(() => readOnce(sessions, organisationId, read));
}

async function retried<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      const isStale = error instanceof StaleStatementError;
      if (attempt === MAX_ATTEMPTS) throw isStale ? error.cause : error;
      if (isStale) continue;
      if (!isRetryable(error)) throw error;
      // Two transactions that blocked each other must not collide again in lockstep.
      const pauseMs = attempt * 20 * Math.random();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

async function runOnce<T>(
  sessions: TransactionPool,
  organisationId: number | null,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  const connection = await sessions.acquire();
  let reusable = false;
  try {
    await begin(connection, organisationId);
    const tx = new Transaction(connection);
    let result: T;
    try {
      result = await work(tx);
    } catch (error) {
      tx.close();
      // The caller must see the work's error; a failed rollback shows in the connection's state.
      reusable = await rollback(connection);
      throw error;
    }
    tx.close();
    const tag = await connection.command('COMMIT');
    reusable = true;
    if (tag !== 'COMMIT') throw new TransactionRolledBackError();
    return result;
  } finally {
    sessions.release(connection, reusable);
  }
}

async function readOnce<T>(
  sessions: TransactionPool,
  organisationId: number,
  read: (tx: Queryable) => Promise<T>,
): Promise<T> {
  const connection = await sessions.acquire();
  const statement = new ReadStatement(connection, organisationId);
  try {
    return await read(statement);
  } finally {
    sessions.release(connection, await statement.end());
  }
}

/** Both statements go out in one round trip. Neither is skipped: work must never start outside them. */
async function begin(connection: Connection, organisationId: number | null): Promise<void> {
  const statements: Promise<unknown>[] = [connection.query('BEGIN')];
  if (organisationId !== null) statements.push(narrowTo(connection, organisationId));
  await Promise.all(statements);
}

/**
 * From here to the end of the transaction only this organisation's rows are visible and writable.
 * @param organisationId null: those of all
 */
export async function narrowTo(tx: Queryable, organisationId: number | null): Promise<void> {
  const value = organisationId === null ? '' : String(organisationId);
  await tx.query(`SELECT set_config('millrace.organisation_id', $1, true)`, [value]);
}

async function rollback(connection: Connection): Promise<boolean> {
  try {
    await connection.query('ROLLBACK');
    return true;
  } catch {
    return false;
  }
}

/** A transaction of one statement. What it returns counts only if everything around it worked; if not, nothing was changed, as it reads. */
class ReadStatement implements Queryable {
  readonly #connection: Connection;
  readonly #organisationId: number;
  #sent: Promise<PromiseSettledResult<unknown>[]> | null = null;

  constructor(connection: Connection, organisationId: number) {
    this.#connection = connection;
    this.#organisationId = organisationId;
  }

  async query<Row>(text: string, values?: readonly unknown[], name?: string): Promise<Row[]> {
    if (this.#sent !== null) throw new Error('A read has one statement: use a transaction for more');
    const began = this.#connection.command('BEGIN READ ONLY');
    const narrowed = narrowTo(this.#connection, this.#organisationId);
    const rows = this.#connection.query<Row>(text, values, name);
    const ended = this.#connection.command('COMMIT');
    this.#sent = Promise.allSettled([began, narrowed, rows, ended]);
    const failed = (await this.#sent).find((each) => each.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    if ((await ended) !== 'COMMIT') throw new TransactionRolledBackError();
    return await rows;
  }

  /** @returns whether the connection can be used again */
  async end(): Promise<boolean> {
    const outcomes = (await this.#sent) ?? [];
    return outcomes.at(-1)?.status !== 'rejected';
  }
}

class Transaction implements Queryable {
  readonly #connection: Connection;
  #ended = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  close(): void {
    this.#ended = true;
  }

  async query<Row>(text: string, values?: readonly unknown[], name?: string): Promise<Row[]> {
    if (this.#ended) throw new Error('The transaction has ended; nothing more can be sent in it');
    return await this.#connection.query<Row>(text, values, name);
  }
}
