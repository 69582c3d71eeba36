/** Share of the lease kept as a margin, so that work in progress can stop before another worker may start. */
const MARGIN_SHARE = 0.2;
const MAX_MARGIN_MS = 5_000;

/**
 * Whether a worker certainly still owns its lease, by the monotonic clock alone: counted from when a renewal was sent, not
 * from when its reply arrived, and minus a margin. So it expires here before it does in the database.
 */
export class LeaseWatch {
  readonly #lengthMs: number;
  #validUntil: number;

  /** @param sentAt `performance.now()` when the lease was requested */
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

  /** Milliseconds until it expires; 0 once it has. */
  get remainingMs(): number {
    return Math.max(0, this.#validUntil - performance.now());
  }
}

const BUSY_SHARE = 0.5;

/** The share of time since its creation that this process spent computing: distinguishes a busy process from one that was suspended. */
export class CpuUsage {
  readonly since = performance.now();
  readonly #cpu = process.cpuUsage();

  /** Whether it spent half of the time or more computing. */
  get wasBusy(): boolean {
    return this.spentMs >= BUSY_SHARE * (performance.now() - this.since);
  }

  /** Milliseconds of CPU time spent. */
  get spentMs(): number {
    const { user, system } = process.cpuUsage(this.#cpu);
    return (user + system) / 1000;
  }
}
