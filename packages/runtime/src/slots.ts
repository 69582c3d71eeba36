import { mayHoldAnother, type SlotShares } from '@millrace/engine';
import type { BorrowedSlots } from './borrowed-slots.ts';
import type { WorkerSettings } from './settings.ts';

type SlotSettings = Pick<WorkerSettings, 'concurrency' | 'organisationPercent'>;

/** A worker's slots, each held for an execution of an organisation, and how organisations share them. */
export class Slots {
  readonly #settings: SlotSettings;
  readonly #borrowed: BorrowedSlots | undefined;
  readonly #held = new Map<number, number>();
  #taken = 0;

  constructor(settings: SlotSettings, borrowed?: BorrowedSlots) {
    this.#settings = settings;
    this.#borrowed = borrowed;
  }

  /** May be negative: executions found leased to the worker are held whether a slot is free or not. */
  get free(): number {
    return this.#settings.concurrency + (this.#borrowed?.count ?? 0) - this.#taken;
  }

  get shares(): SlotShares {
    return { free: this.free, held: this.#held, largestPercent: this.#settings.organisationPercent };
  }

  take(organisationId: number): void {
    this.#taken += 1;
    this.#held.set(organisationId, (this.#held.get(organisationId) ?? 0) + 1);
  }

  giveBack(organisationId: number): void {
    this.#taken -= 1;
    const held = (this.#held.get(organisationId) ?? 0) - 1;
    if (held > 0) this.#held.set(organisationId, held);
    else this.#held.delete(organisationId);
  }

  /** @param except free slots that are promised to others */
  mayHoldAnother(organisationId: number, except = 0): boolean {
    const held = this.#held.get(organisationId) ?? 0;
    return mayHoldAnother(held, this.free - except, this.#settings.organisationPercent);
  }

  /** The organisations that are given no further slot while what is held and free stays as it is. */
  atShare(): Set<number> {
    return new Set(this.#held.keys().filter((organisationId) => !this.mayHoldAnother(organisationId)));
  }
}
