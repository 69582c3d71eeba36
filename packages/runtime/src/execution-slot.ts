import type { Slots } from './slots.ts';

/** The slot of one running execution, which is released while it needs none. */
export class ExecutionSlot {
  readonly #slots: Slots;
  readonly #organisationId: number;
  readonly #onSuspended: () => void;
  #isSuspended = false;
  #hasEnded = false;

  /** @param onSuspended called when the slot was released for a while */
  constructor(slots: Slots, organisationId: number, onSuspended: () => void) {
    this.#slots = slots;
    this.#organisationId = organisationId;
    this.#onSuspended = onSuspended;
    slots.acquire(organisationId);
  }

  /** Whether the execution needs no slot at the moment. */
  setIdle(isIdle: boolean): void {
    if (this.#hasEnded || isIdle === this.#isSuspended) return;
    if (!isIdle) this.#slots.resume(this.#organisationId);
    else if (!this.#slots.suspend(this.#organisationId)) return;
    this.#isSuspended = isIdle;
    if (isIdle) this.#onSuspended();
  }

  /** The execution has ended here. Safe to call twice. */
  end(): void {
    if (this.#hasEnded) return;
    this.setIdle(false);
    this.#hasEnded = true;
    this.#slots.release(this.#organisationId);
  }
}
