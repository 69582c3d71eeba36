/** From when on new work is refused. 0: never for this reason. */
export interface SheddingSettings {
  /** Average delay of the event loop. */
  readonly loopDelayMs: number;
  /** How long a statement or a transaction has been waiting for a connection. */
  readonly poolWaitMs: number;
}

/** How busy the process is: both values are those that settings limit. */
export type PressureSample = SheddingSettings;

/** A single pause (a start, a garbage collection, a machine waking up) shows in one sample; overload lasts. */
const LASTING_MS = 1_000;
/** How long it must be quiet before work is accepted again, so that the first requests don't bring the overload back. */
const QUIET_MS = 2_000;
/** Quiet means below this part of the limits. */
const QUIET_PART = 0.5;
const MIN_RETRY_SECONDS = 2;
const MAX_RETRY_SECONDS = 30;

/** An overload, from when work is refused until it is accepted again. */
export interface Episode {
  readonly sinceMs: number;
  refused: number;
}

/** Decides by samples whether work is refused. It knows no clock: times are monotonic milliseconds. */
export class Pressure {
  readonly #limits: SheddingSettings;
  #overSinceMs: number | null = null;
  #quietSinceMs: number | null = null;
  #episode: Episode | null = null;

  constructor(limits: SheddingSettings) {
    this.#limits = limits;
  }

  /** Null while work is accepted. */
  get episode(): Episode | null {
    return this.#episode;
  }

  /** The last sample was below the limits, and work is accepted. */
  get isCalm(): boolean {
    return this.#episode === null && this.#overSinceMs === null;
  }

  /** @returns the episode that began or ended with this sample, if any */
  note(sample: PressureSample, nowMs: number): { began: Episode } | { ended: Episode } | null {
    const episode = this.#episode;
    if (episode === null) {
      this.#overSinceMs = this.#exceeds(sample, 1) ? (this.#overSinceMs ?? nowMs) : null;
      if (this.#overSinceMs === null || nowMs - this.#overSinceMs < LASTING_MS) return null;
      this.#episode = { sinceMs: nowMs, refused: 0 };
      this.#quietSinceMs = null;
      return { began: this.#episode };
    }
    this.#quietSinceMs = this.#exceeds(sample, QUIET_PART) ? null : (this.#quietSinceMs ?? nowMs);
    if (this.#quietSinceMs === null || nowMs - this.#quietSinceMs < QUIET_MS) return null;
    this.#episode = null;
    this.#overSinceMs = null;
    return { ended: episode };
  }

  /** Counts a refused request. @returns the seconds after which to try again: the longer the overload lasts, the more */
  refuse(episode: Episode, nowMs: number): number {
    episode.refused += 1;
    const lasted = Math.ceil((nowMs - episode.sinceMs) / 1000);
    return Math.min(Math.max(lasted, MIN_RETRY_SECONDS), MAX_RETRY_SECONDS);
  }

  #exceeds({ loopDelayMs, poolWaitMs }: PressureSample, part: number): boolean {
    const { loopDelayMs: maxDelay, poolWaitMs: maxWait } = this.#limits;
    return (maxDelay > 0 && loopDelayMs > maxDelay * part) || (maxWait > 0 && poolWaitMs > maxWait * part);
  }
}
