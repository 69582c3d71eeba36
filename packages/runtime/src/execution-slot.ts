import type { Slots } from './slots.ts';

/** The slot of one running execution, which it gives back while it needs none. */
export class ExecutionSlot {
  readonly #slots: Slots;
  readonly #organisationId: number;
  readonly #onLeft: () => void;
  #isAway = false;
  #hasEnded = false;

  /** @param onLeft called when it has given its slot back for a while */
  constructor(slots: Slots, organisationId: number, onLeft: () => void) {
    this.#slots = slots;
    this.#organisationId = organisationId;
    this.#onLeft = onLeft;
    slots.take(organisationId);
  }

  /** Whether the execution needs no slot at the moment. */
  setIdle(isIdle: boolean): void {
    if (this.#hasEnded || isIdle === this.#isAway) return;
    if (!isIdle) this.#slots.comeBack(this.#organisationId);
    else if (!this.#slots.leave(this.#organisationId)) return;
    this.#isAway = isIdle;
    if (isIdle) this.#onLeft();
  }

  /** The execution is over here. Safe to call twice. */
  end(): void {
    if (this.#hasEnded) return;
    this.setIdle(false);
    this.#hasEnded = true;
    this.#slots.giveBack(this.#organisationId);
  }
}
