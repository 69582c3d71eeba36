import { type EventLoopUtilization, monitorEventLoopDelay, performance } from 'node:perf_hooks';

const RESOLUTION_MS = 10;
/** A loop that is idle for half of the time delays nothing by much. */
const BUSY = 0.5;

/** What Node offers; replaced by tests. */
export interface LoopSources {
  readonly utilization: (since?: EventLoopUtilization) => EventLoopUtilization;
  readonly delays: {
    /** In nanoseconds; NaN if nothing was measured. */
    readonly mean: number;
    enable(): unknown;
    disable(): unknown;
    reset(): void;
  };
}

/**
 * The average delay of the event loop from one look to the next. Measuring it wakes the process a hundred times a second, most of what an
 * idle process does, so it is measured only while the loop is busy; how busy it was, Node knows without that.
 */
export class LoopDelay {
  readonly #sources: LoopSources;
  #before: EventLoopUtilization;
  #isMeasuring = false;

  constructor(sources: LoopSources = nodeSources()) {
    this.#sources = sources;
    this.#before = sources.utilization();
  }

  /**
   * @param lateMs how much later than planned this look is: all that is known of a loop that wasn't measured
   * @param sinceMs the time since the last look
   */
  read(lateMs: number, sinceMs: number): number {
    const { utilization, delays } = this.#sources;
    const isBusy = utilization(this.#before).utilization >= BUSY;
    this.#before = utilization();
    // No measurements at all means that the loop was blocked for the whole time.
    const measuredMs = Number.isNaN(delays.mean) ? sinceMs : delays.mean / 1e6 - RESOLUTION_MS;
    const delayMs = this.#isMeasuring ? measuredMs : lateMs;
    delays.reset();
    if (isBusy !== this.#isMeasuring) {
      if (isBusy) delays.enable();
      else delays.disable();
      this.#isMeasuring = isBusy;
    }
    return Math.max(0, delayMs);
  }

  /** The next look covers what comes from now on. */
  start(): void {
    this.#before = this.#sources.utilization();
  }

  stop(): void {
    this.#sources.delays.disable();
    this.#isMeasuring = false;
  }
}

function nodeSources(): LoopSources {
  return {
    utilization: (since) => performance.eventLoopUtilization(since),
    delays: monitorEventLoopDelay({ resolution: RESOLUTION_MS }),
  };
}
