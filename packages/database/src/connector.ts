import { Connection, type ConnectionSettings } from './connection.ts';
import { DatabaseUnavailableError, waitingMayMend } from './errors.ts';

const FIRST_BACKOFF_MS = 50;
const LONGEST_BACKOFF_MS = 1000;
const WATCH_MS = 1000;

/**
 * Opens connections and watches over them. After a failed attempt it refuses at once until a growing backoff is
 * over, so that a database that is away costs its callers no waiting and the database no storm of attempts. Of
 * several servers those that do not answer, and those that accept no writes, are passed over.
 */
export class Connector {
  readonly #urls: readonly string[];
  readonly #settings: Omit<ConnectionSettings, 'url'>;
  /** Which server answered last: it is asked first. */
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
        // A wrong password is one everywhere; as with libpq it is told at once.
        if (count === 1 || !waitingMayMend(error)) throw error;
        failures.push(error.cause);
      }
    }
    throw new DatabaseUnavailableError(new AggregateError(failures, 'no server of the database can be used'));
  }

  /** Opens nothing any more. Connections are closed by whoever holds them. */
  refuse(): void {
    this.#refusing = true;
  }

  /** Ends the watch over connections. */
  stop(): void {
    clearInterval(this.#timer);
  }

  #failed(error: unknown): void {
    const backoffMs = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** this.#failures);
    this.#failures += 1;
    // Half of it by chance, so that many processes do not come back in step.
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
