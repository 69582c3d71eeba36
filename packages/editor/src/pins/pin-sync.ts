import type { JsonObject } from '@millrace/engine';
import { ApiProblem } from '@millrace/ui/api/client.ts';
import { createContext } from 'react';

/** A node's pinned output; null: unpinned. */
export type PinnedOutput = JsonObject | null;
export type Pins = ReadonlyMap<string, PinnedOutput>;

export interface PinSyncOptions {
  /** @param isLast the page is being unloaded */
  readonly send: (nodeId: string, output: PinnedOutput, isLast: boolean) => Promise<unknown>;
  /**
   * Stores unconfirmed pins in the browser for the next visit.
   * @param sent pins in flight, which may arrive after the page is gone
   * @returns whether there was room
   */
  readonly putAside: (unsaved: Pins, sent: Pins) => boolean;
  /** The service has confirmed everything. */
  readonly onSettled: () => void;
  /** What the service rejects isn't sent again; after a network failure it is. */
  readonly onFailed: (error: Error) => void;
}

/** Debounces typing. */
const PAUSE_MS = 500;
const RETRY_MS = 5_000;

/**
 * Saves a workflow's pinned outputs: one call at a time, so that an older output never arrives after a newer one, with
 * retries while the service is unreachable.
 */
export class PinSync {
  readonly #options: PinSyncOptions;
  /** Pins not sent yet, only the newest per node. */
  readonly #waiting = new Map<string, PinnedOutput>();
  /** The pin in flight. */
  #sent: readonly [nodeId: string, output: PinnedOutput] | null = null;
  #isFailureReported = false;
  #isStopped = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: PinSyncOptions) {
    this.#options = options;
  }

  /** Pins an output to a node; null unpins. */
  set(nodeId: string, output: PinnedOutput): void {
    this.#waiting.delete(nodeId);
    this.#waiting.set(nodeId, output);
    this.#schedule(PAUSE_MS);
  }

  /** Pins that the service may not have. */
  get unsaved(): Pins {
    return new Map([...this.#underWay, ...this.#waiting]);
  }

  get #underWay(): Pins {
    return new Map(this.#sent === null ? [] : [this.#sent]);
  }

  /** Stores them in the browser. @returns false if they would be lost on unload */
  putAside(): boolean {
    return this.unsaved.size === 0 || this.#options.putAside(this.unsaved, this.#underWay);
  }

  /** The page is hidden or unloaded. @param isLast it is being unloaded */
  leave(isLast: boolean): void {
    if (this.unsaved.size === 0) return;
    this.putAside();
    // The call in flight may arrive after one sent now; the next visit restores the stored copy instead.
    if (isLast && this.#sent !== null) return;
    void this.#sendAll(isLast);
  }

  /** Mounted: sends pending pins. */
  start(): void {
    this.#isStopped = false;
    if (this.#waiting.size > 0) this.#schedule(PAUSE_MS);
  }

  /** Unmounted: stops retrying. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #sendAll(isLast: boolean): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#sent !== null) return;
    for (const [nodeId, output] of this.#waiting) {
      this.#waiting.delete(nodeId);
      this.#sent = [nodeId, output];
      const isDone = await this.#send(nodeId, output, isLast);
      this.#sent = null;
      if (!isDone) {
        if (!this.#waiting.has(nodeId)) this.#waiting.set(nodeId, output);
        this.putAside();
        this.#schedule(RETRY_MS);
        return;
      }
    }
    this.#options.onSettled();
  }

  /** @returns whether this pin is done with */
  async #send(nodeId: string, output: PinnedOutput, isLast: boolean): Promise<boolean> {
    try {
      await this.#options.send(nodeId, output, isLast);
      this.#isFailureReported = false;
      return true;
    } catch (error) {
      const isRefused = isFinal(error);
      if (isRefused || !this.#isFailureReported) this.#options.onFailed(error as Error);
      this.#isFailureReported = !isRefused;
      return isRefused;
    }
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    if (!this.#isStopped) this.#timer = setTimeout(() => void this.#sendAll(false), ms);
  }
}

/** Whether a retry would fail the same way: not if the session has ended or the service is busy. */
function isFinal(error: unknown): boolean {
  return error instanceof ApiProblem && error.status < 500 && error.status !== 401 && error.status !== 429;
}

/** The pins of the open workflow. */
export const PinSyncContext = createContext<PinSync | null>(null);
