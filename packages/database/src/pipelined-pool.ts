import { type Connection, queryPrepared } from './connection.ts';
import type { Connector } from './connector.ts';
import type { PoolState, Queryable } from './database.ts';

interface Lane {
  connection: Connection | null;
  opening: Promise<Connection> | null;
}

/**
 * Statements outside transactions: pipelined over a few connections, each statement its own transaction. A lane is opened when the open
 * ones are busy, and again after it was lost.
 */
export class PipelinedPool implements Queryable {
  readonly #connector: Connector;
  readonly #lanes: Lane[];

  constructor(connector: Connector, count: number) {
    this.#connector = connector;
    this.#lanes = Array.from({ length: count }, () => ({ connection: null, opening: null }));
  }

  async query<Row>(text: string, values?: readonly unknown[], name?: string): Promise<Row[]> {
    const connection = this.#leastBusy() ?? (await this.#openFirst());
    return queryPrepared<Row>(connection, text, values, name);
  }

  /** How long all lanes have been silent with statements pending: a further one would wait behind those. */
  get waitingMs(): number {
    const now = performance.now();
    return Math.min(...this.#lanes.map(({ connection }) => connection?.silentMs(now) ?? 0));
  }

  get state(): Omit<PoolState, 'pool'> {
    const pending = this.#lanes.flatMap(({ connection }) =>
      connection === null ? [] : [connection.pending],
    );
    return {
      open: pending.length,
      idle: pending.filter((count) => count === 0).length,
      most: this.#lanes.length,
      waiting: pending.reduce((sum, count) => sum + Math.max(count - 1, 0), 0),
    };
  }

  async close(): Promise<void> {
    await Promise.allSettled(
      this.#lanes.map(async (lane) => {
        const connection = lane.connection ?? (await lane.opening);
        await connection?.end();
      }),
    );
  }

  #leastBusy(): Connection | null {
    let best: Connection | null = null;
    let spare: Lane | null = null;
    for (const lane of this.#lanes) {
      if (lane.connection === null) {
        spare ??= lane;
      } else if (best === null || lane.connection.pending < best.pending) {
        best = lane.connection;
      }
    }
    if (best !== null && best.pending > 0 && spare !== null) {
      // For later statements; this one doesn't wait for it, and a later one reports a failure.
      this.#open(spare).catch(() => {});
    }
    return best;
  }

  #openFirst(): Promise<Connection> {
    const underWay = this.#lanes.find((lane) => lane.opening !== null);
    if (underWay?.opening) return underWay.opening;
    const [first] = this.#lanes;
    if (first === undefined) throw new RangeError('At least one lane is needed');
    return this.#open(first);
  }

  #open(lane: Lane): Promise<Connection> {
    lane.opening ??= this.#connector
      .connect()
      .then((connection) => {
        lane.connection = connection;
        connection.onClose(() => {
          lane.connection = null;
        });
        return connection;
      })
      .finally(() => {
        lane.opening = null;
      });
    return lane.opening;
  }
}
