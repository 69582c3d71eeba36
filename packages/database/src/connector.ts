import { Connection, type ConnectionSettings } from './connection.ts';
import { DatabaseUnavailableError, mayRecover } from './errors.ts';

const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 1000;
const WATCH_MS = 1000;

/**
 * Opens connections and monitors them. After a failed attempt it refuses at once until a growing backoff is over, so that an unavailable
 * database costs its callers no waiting and isn't flooded with attempts. With several servers, those that don't respond or reject writes
 * are skipped.
 */
export class Connector {
  readonly #urls: readonly string[];
  readonly #settings: Omit<ConnectionSettings, 'url'>;
  /** The server that responded last is tried first. */
  #latest = 0;
  readonly #open = new Set<Connection>();
  readonly #timer: NodeJS.Timeout;
  #failures = 0;
  #retryAt = 0;
  #lastError: unknown = null;
  #watchedAt = performance.now();
  #refusing = false;

  constructor(urls: readonly string[], settings: Omit<ConnectionSettings, 'url'>) {
    this.#urls = urls;
    this.#settings = settings;
    this.#timer = setInterval(() => this.#watch(), WATCH_MS);
    this.#timer.unref();
  }

  /** @throws DatabaseUnavailableError when the attempt fails or the last one failed a moment ago */
  async connect(overrides: Partial<ConnectionSettings> = {}): Promise<Connection> {
    if (this.#refusing) throw new DatabaseUnavailableError(new Error('it was closed by this process'));
    if (performance.now() < this.#retryAt) throw new DatabaseUnavailableError(this.#lastError);
    try {
      const connection = await this.#openOne({ ...this.#settings, ...overrides });
      this.#failures = 0;
      this.#retryAt = 0;
      this.#open.add(connection);
      connection.onClose(() => this.#open.delete(connection));
      return connection;
    } catch (error) {
      this.#failed(error);
      throw error;
    }
  }

  async #openOne(settings: Omit<ConnectionSettings, 'url'>): Promise<Connection> {
    const count = this.#urls.length;
    const failures: unknown[] = [];
    const first = this.#latest;
    for (let tried = 0; tried < count; tried += 1) {
      const index = (first + tried) % count;
      try {
        const connection = await Connection.open({ ...settings, url: this.#urls[index] ?? '' });
        this.#latest = index;
        return connection;
      } catch (error) {
        // A wrong password is wrong on every server; like libpq, report it at once.
        if (count === 1 || !mayRecover(error)) throw error;
        failures.push(error.cause);
      }
    }
    throw new DatabaseUnavailableError(new AggregateError(failures, 'no server of the database can be used'));
  }

  /** Stops opening connections. Open ones are closed by their owners. */
  refuse(): void {
    this.#refusing = true;
  }

  /** Stops monitoring connections. */
  stop(): void {
    clearInterval(this.#timer);
  }

  #failed(error: unknown): void {
    const backoffMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** this.#failures);
    this.#failures += 1;
    // Half of it is random, so that many processes don't reconnect in lockstep.
    this.#retryAt = performance.now() + backoffMs * (0.5 + Math.random() / 2);
    this.#lastError = error instanceof DatabaseUnavailableError ? error.cause : error;
  }

  #watch(): void {
    const now = performance.now();
    const stoodStill = now - this.#watchedAt > 3 * WATCH_MS;
    this.#watchedAt = now;
    for (const connection of this.#open) {
      if (stoodStill) connection.forgiveSilence(now);
      else connection.cutIfSilent(now);
    }
  }
}
