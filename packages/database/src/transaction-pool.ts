import type { Connection, ConnectionSettings } from './connection.ts';
import type { Connector } from './connector.ts';
import type { PoolState } from './database.ts';
import { DatabaseUnavailableError } from './errors.ts';

const IDLE_MS = 60_000;

interface Waiter {
  readonly resolve: (connection: Connection) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
  readonly sinceMs: number;
}

/** Connections, each used by one transaction at a time. Opened on demand, closed after a minute of inactivity. */
export class TransactionPool {
  readonly #connector: Connector;
  readonly #max: number;
  readonly #acquireTimeoutMs: number;
  readonly #overrides: Partial<ConnectionSettings>;
  readonly #idle: { connection: Connection; sinceMs: number }[] = [];
  /** In order of arrival, without those that were served or gave up. */
  readonly #waiters = new Set<Waiter>();
  readonly #timer: NodeJS.Timeout;
  /** Open connections, in use or idle, and those being opened. */
  #count = 0;
  #closed = false;

  constructor(
    connector: Connector,
    max: number,
    acquireTimeoutMs: number,
    overrides: Partial<ConnectionSettings> = {},
  ) {
    this.#connector = connector;
    this.#max = max;
    this.#acquireTimeoutMs = acquireTimeoutMs;
    this.#overrides = overrides;
    this.#timer = setInterval(() => this.#closeIdle(), IDLE_MS / 2);
    this.#timer.unref();
  }

  /** How long the first waiter has been waiting; 0 if there is none. */
  get waitingMs(): number {
    const [first] = this.#waiters;
    return first === undefined ? 0 : performance.now() - first.sinceMs;
  }

  get state(): Omit<PoolState, 'pool'> {
    return {
      open: this.#count,
      idle: this.#idle.length,
      most: this.#max,
      waiting: this.#waiters.size,
    };
  }

  /** @throws DatabaseUnavailableError when no connection can be opened or none becomes free in time */
  async acquire(): Promise<Connection> {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (idle.connection.isOpen) return idle.connection;
      this.#count -= 1;
    }
    if (this.#count >= this.#max) return await this.#wait();
    return await this.#open();
  }

  /** Takes a connection back; one that is lost or in an unknown state is discarded. */
  release(connection: Connection, reusable: boolean): void {
    if (this.#closed && reusable) {
      connection.end().catch(() => {});
      return;
    }
    if (reusable && connection.isOpen) {
      const [waiter] = this.#waiters;
      if (waiter === undefined) this.#idle.push({ connection, sinceMs: performance.now() });
      else this.#hand(waiter, connection);
      return;
    }
    if (connection.isOpen) connection.destroy(new Error('The connection was left in an unknown state'));
    this.#count -= 1;
    if (this.#waiters.size === 0) return;
    // Once open, it goes to the longest waiter.
    this.#open().then(
      (opened) => this.release(opened, true),
      () => {},
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const waiter of this.#waiters) {
      this.#refuse(waiter, new DatabaseUnavailableError(new Error('The database was closed')));
    }
    await Promise.allSettled(this.#idle.splice(0).map(({ connection }) => connection.end()));
  }

  async #open(): Promise<Connection> {
    this.#count += 1;
    try {
      return await this.#connector.connect(this.#overrides);
    } catch (error) {
      this.#count -= 1;
      const reason = error instanceof Error ? error : new DatabaseUnavailableError(error);
      // No connection is in use that could be returned to the waiters.
      if (this.#count === 0) for (const waiter of this.#waiters) this.#refuse(waiter, reason);
      throw error;
    }
  }

  #wait(): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters.delete(waiter);
        reject(
          new DatabaseUnavailableError(new Error(`all ${this.#max} connections were busy for too long`)),
        );
      }, this.#acquireTimeoutMs);
      const waiter: Waiter = { resolve, reject, timer, sinceMs: performance.now() };
      this.#waiters.add(waiter);
    });
  }

  #hand(waiter: Waiter, connection: Connection): void {
    this.#waiters.delete(waiter);
    clearTimeout(waiter.timer);
    waiter.resolve(connection);
  }

  #refuse(waiter: Waiter, error: Error): void {
    this.#waiters.delete(waiter);
    clearTimeout(waiter.timer);
    waiter.reject(error);
  }

  #closeIdle(): void {
    const now = performance.now();
    while (this.#idle[0] !== undefined && now - this.#idle[0].sinceMs > IDLE_MS) {
      const [oldest] = this.#idle.splice(0, 1);
      this.#count -= 1;
      oldest?.connection.end().catch(() => {});
    }
  }
}
