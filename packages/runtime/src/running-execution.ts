import type { ClaimedExecution, StopReason } from '@millrace/engine';
import type { DataHolding } from './data-budget.ts';
import type { ExecutionSlot } from './execution-slot.ts';
import type { LeaseWatch } from './lease-watch.ts';
import type { RunControl } from './run-deps.ts';

/** An execution running on this worker. */
export class RunningExecution implements RunControl {
  readonly claimed: ClaimedExecution;
  readonly data: DataHolding;
  readonly #lease: LeaseWatch;
  readonly #stopCallbacks: (() => void)[] = [];
  #stopReason: StopReason | null = null;
  #signalsSeen = 0;
  #onSignal: (() => void) | null = null;
  #isSignalled = false;
  readonly slot: ExecutionSlot;
  ended: Promise<void> = Promise.resolve();

  constructor(claimed: ClaimedExecution, lease: LeaseWatch, data: DataHolding, slot: ExecutionSlot) {
    this.slot = slot;
    this.claimed = claimed;
    this.data = data;
    this.#lease = lease;
  }

  stop(reason: StopReason): void {
    if (this.#stopReason !== null) return;
    this.#stopReason = reason;
    for (const callback of this.#stopCallbacks) callback();
  }

  stopReason(): StopReason | null {
    return this.#stopReason;
  }

  onStop(callback: () => void): void {
    this.#stopCallbacks.push(callback);
  }

  /** The execution was sent a signal; its run may not be listening yet. */
  signal(): void {
    this.#isSignalled = true;
    this.#onSignal?.();
  }

  onSignal(callback: () => void): void {
    this.#onSignal = callback;
    if (this.#isSignalled) callback();
  }

  sawSignal(seq: number): void {
    this.#signalsSeen = seq;
  }

  /** `seq` of the last signal the run has seen. */
  get signalsSeen(): number {
    return this.#signalsSeen;
  }

  setIdle(isIdle: boolean): void {
    this.slot.setIdle(isIdle);
  }

  isLeaseValid(): boolean {
    return this.#lease.isValid;
  }
}
