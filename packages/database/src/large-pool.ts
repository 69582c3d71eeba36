import { queryPrepared } from './connection.ts';
import type { Connector } from './connector.ts';
import type { PoolState, Queryable } from './database.ts';
import { TransactionPool } from './transaction-pool.ts';

/** PostgreSQL and this process keep several copies of a statement in memory while it is under way. */
export const MAX_LARGE_CONNECTIONS = 3;
/** The longest timer there is: how long a statement waits for a connection says nothing about the database. */
const NEVER_MS = 2 ** 31 - 1;

/** Statements that carry much data: one at a time on a connection. Connections are opened on demand and closed when idle. */
export class LargePool implements Queryable {
  readonly #connections: TransactionPool;

  constructor(connector: Connector, statementTimeoutMs: number) {
    this.#connections = new TransactionPool(connector, MAX_LARGE_CONNECTIONS, NEVER_MS, {
      statementTimeoutMs,
    });
  }

  async query<Row>(text: string, values?: readonly unknown[], name?: string): Promise<Row[]> {
    const connection = await this.#connections.acquire();
    try {
      return await queryPrepared<Row>(connection, text, values, name);
    } finally {
      this.#connections.release(connection, true);
    }
  }

  get state(): Omit<PoolState, 'pool'> {
    return this.#connections.state;
  }

  close(): Promise<void> {
    return this.#connections.close();
  }
}
