/** Smoothing of the measured rate: a new count weighs as much as all those in this period before it. */
const SMOOTHING_MS = 10_000;
/** Retry-After while nothing leaves the queue, or before that is known. */
const UNKNOWN_SECONDS = 30;
const MAX_SECONDS = 600;

/** A count of a queue in the database. */
export interface QueueCount {
  readonly queued: number;
  /** Executions stored since the count before, in any process; null if there was none. */
  readonly arrived: number | null;
}

/**
 * What one process knows about a queue: the last count in the database, and what it has stored or is storing since. It always includes
 * what this process added; what left the queue, and what other processes added, shows at the next count.
 */
export class QueueGauge {
  #counted: number | null = null;
  #countedAtMs = 0;
  /** Being stored now, by requests that hold a place. */
  #entering = 0;
  /** Stored since the last count was requested. */
  #entered = 0;
  #enteredBeforeCount = 0;
  #leavingPerSecond: number | null = null;
  /** When there will be room for everything refused so far. */
  #lineEndsAtMs = 0;

  /** How many are waiting at most, as far as this process knows. */
  get estimate(): number {
    return (this.#counted ?? 0) + this.#entering + this.#entered;
  }

  get isCounted(): boolean {
    return this.#counted !== null;
  }

  /** Whether anything is being stored that no count includes yet. */
  get isInUse(): boolean {
    return this.#entering > 0;
  }

  get countedAtMs(): number {
    return this.#countedAtMs;
  }

  enter(count: number): void {
    this.#entering += count;
  }

  /** After {@link enter}, once it is stored or known not to be. If that is unknown, it counts as stored. */
  settle(count: number): void {
    this.#entering -= count;
    this.#entered += count;
  }

  /** Call it before a count is requested: it will include what has been stored by now. */
  countRequested(): void {
    this.#enteredBeforeCount = this.#entered;
  }

  /** @param nowMs monotonic */
  setCount({ queued, arrived }: QueueCount, nowMs: number): void {
    const before = this.#counted;
    if (before !== null && arrived !== null) this.#noteRate(before + arrived - queued, nowMs);
    this.#counted = queued;
    this.#countedAtMs = nowMs;
    this.#entered -= this.#enteredBeforeCount;
    this.#enteredBeforeCount = 0;
  }

  /**
   * Seconds after which there will be room for `count` more, behind all those that were refused before.
   * @param nowMs monotonic
   */
  refuse(count: number, limit: number, nowMs: number): number {
    const perSecond = this.#leavingPerSecond;
    if (perSecond === null || perSecond <= 0) return UNKNOWN_SECONDS;
    const msFor = (places: number): number => (places / perSecond) * 1000;
    const excess = Math.max(this.estimate - limit, 0);
    // By then everything that waits now will have left, however many were refused.
    const latestMs = nowMs + msFor(Math.max(this.estimate, limit));
    const soonestMs = Math.max(this.#lineEndsAtMs, nowMs + msFor(excess));
    this.#lineEndsAtMs = Math.min(soonestMs + msFor(count), latestMs);
    return Math.min(Math.max(Math.ceil((this.#lineEndsAtMs - nowMs) / 1000), 1), MAX_SECONDS);
  }

  #noteRate(left: number, nowMs: number): void {
    const elapsedMs = nowMs - this.#countedAtMs;
    if (elapsedMs <= 0) return;
    const measured = (Math.max(left, 0) * 1000) / elapsedMs;
    const weight = 1 - Math.exp(-elapsedMs / SMOOTHING_MS);
    this.#leavingPerSecond =
      this.#leavingPerSecond === null
        ? measured
        : this.#leavingPerSecond + (measured - this.#leavingPerSecond) * weight;
  }
}
