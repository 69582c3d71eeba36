/** Share of the lease kept back: time for what is under way to stop before another worker may begin. */
const MARGIN_SHARE = 0.2;
const MAX_MARGIN_MS = 5_000;

/**
 * Whether a worker's lease is certainly still its own, by the monotonic clock alone: counted from the moment at which
 * a renewal was sent, not when its answer came, and less a margin. So it is over here before it is in the database.
 */
export class LeaseWatch {
  readonly #lengthMs: number;
  #validUntil: number;

  /** @param sentAt `performance.now()` when the lease was asked for */
  constructor(leaseMs: number, sentAt: number) {
    this.#lengthMs = leaseMs - Math.min(leaseMs * MARGIN_SHARE, MAX_MARGIN_MS);
    this.#validUntil = sentAt + this.#lengthMs;
  }

  renewed(sentAt: number): void {
    this.#validUntil = sentAt + this.#lengthMs;
  }

  get isValid(): boolean {
    return performance.now() < this.#validUntil;
  }

  /** Milliseconds until it is over; 0 when it is. */
  get remainingMs(): number {
    return Math.max(0, this.#validUntil - performance.now());
  }
}

const BUSY_SHARE = 0.5;

/** How much of the time since a moment this process spent computing: tells a busy one from one that was held up. */
export class CpuUsage {
  #since = performance.now();
  #cpu = process.cpuUsage();

  restart(): void {
    this.#since = performance.now();
    this.#cpu = process.cpuUsage();
  }

  /** Whether it computed for half of the time or more. */
  get wasBusy(): boolean {
    const { user, system } = process.cpuUsage(this.#cpu);
    return (user + system) / 1000 >= BUSY_SHARE * (performance.now() - this.#since);
  }
}
