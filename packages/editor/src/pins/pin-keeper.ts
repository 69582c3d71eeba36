import type { JsonObject } from '@millrace/engine';
import { ApiProblem } from '@millrace/ui/api/client.ts';
import { createContext } from 'react';

/** An output that was pinned to a node, or null: none is any more. */
export type PinnedOutput = JsonObject | null;
export type Pins = ReadonlyMap<string, PinnedOutput>;

export interface PinKeeperOptions {
  /** @param isLast the page is going away */
  readonly send: (nodeId: string, output: PinnedOutput, isLast: boolean) => Promise<unknown>;
  /**
   * Puts what the service has not confirmed into the browser, for the next visit.
   * @param sent what is on its way, which may arrive after the page is gone
   * @returns whether there was room
   */
  readonly putAside: (unkept: Pins, sent: Pins) => boolean;
  /** The service has all there is. */
  readonly onSettled: () => void;
  /** What it refused is not sent again; what it could not be asked is. */
  readonly onFailed: (error: Error) => void;
}

/** Somebody is typing: not every letter is sent. */
const PAUSE_MS = 500;
const RETRY_MS = 5_000;

/**
 * Keeps the pinned outputs of a workflow with the service: one call at a time, so that an older output never arrives after
 * a newer one, and again while the service cannot be reached.
 */
export class PinKeeper {
  readonly #options: PinKeeperOptions;
  /** What was pinned and not sent yet; of each node the newest only. */
  readonly #waiting = new Map<string, PinnedOutput>();
  /** What is on its way. */
  #sent: readonly [nodeId: string, output: PinnedOutput] | null = null;
  #isFailureReported = false;
  #isStopped = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: PinKeeperOptions) {
    this.#options = options;
  }

  /** Pins another output to a node; null: none any more. */
  set(nodeId: string, output: PinnedOutput): void {
    this.#waiting.delete(nodeId);
    this.#waiting.set(nodeId, output);
    this.#schedule(PAUSE_MS);
  }

  /** What the service may not have. */
  get unkept(): Pins {
    return new Map([...this.#underWay, ...this.#waiting]);
  }

  get #underWay(): Pins {
    return new Map(this.#sent === null ? [] : [this.#sent]);
  }

  /** Puts it aside in the browser. @returns false: it would be lost if the page went away now */
  putAside(): boolean {
    return this.unkept.size === 0 || this.#options.putAside(this.unkept, this.#underWay);
  }

  /** The page is left, for good or to come back. @param isLast it is going away */
  leave(isLast: boolean): void {
    if (this.unkept.size === 0) return;
    this.putAside();
    // What is under way may arrive after what would be sent now; whoever comes back finds what was put aside.
    if (isLast && this.#sent !== null) return;
    void this.#sendAll(isLast);
  }

  /** The page is there: what waits is sent. */
  start(): void {
    this.#isStopped = false;
    if (this.#waiting.size > 0) this.#schedule(PAUSE_MS);
  }

  /** The page has gone: nothing is tried again. */
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

  /** @returns whether there is nothing more to be done for it */
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

/** Whether asking again would be answered the same: not when the session has ended, or the service is busy. */
function isFinal(error: unknown): boolean {
  return error instanceof ApiProblem && error.status < 500 && error.status !== 401 && error.status !== 429;
}

/** Keeps the pins of the workflow that is open. */
export const PinKeeperContext = createContext<PinKeeper | null>(null);
