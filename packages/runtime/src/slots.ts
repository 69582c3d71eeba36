import { mayHoldAnother, type OrganisationShare, type SlotShares } from '@millrace/engine';
import type { BorrowedSlots } from './borrowed-slots.ts';
import type { SlotCount } from './meters/meters.ts';
import type { WorkerSettings } from './settings.ts';

type SlotSettings = Pick<WorkerSettings, 'concurrency' | 'organisationPercent'>;

/** A worker's slots, each held by an execution, and how organisations share them. */
export class Slots {
  readonly #settings: SlotSettings;
  readonly #borrowed: BorrowedSlots | undefined;
  readonly #held = new Map<number, number>();
  #own: ReadonlyMap<number, OrganisationShare> = new Map();
  #taken = 0;
  /** Executions that wait without a slot, by organisation. */
  readonly #suspended = new Map<number, number>();
  #allSuspended = 0;

  constructor(settings: SlotSettings, borrowed?: BorrowedSlots) {
    this.#settings = settings;
    this.#borrowed = borrowed;
  }

  /** May be negative: executions found leased to the worker get a slot even if none is free. */
  get free(): number {
    return this.#all - this.#taken;
  }

  get count(): SlotCount {
    return { all: this.#all, taken: this.#taken };
  }

  get #all(): number {
    return this.#settings.concurrency + (this.#borrowed?.count ?? 0);
  }

  get shares(): SlotShares {
    const { organisationPercent: largestPercent } = this.#settings;
    return { free: this.free, held: this.#held, largestPercent, own: this.#own };
  }

  /** @param own the organisations with a share of their own */
  setOwnShares(own: ReadonlyMap<number, OrganisationShare>): void {
    this.#own = own;
  }

  acquire(organisationId: number): void {
    this.#taken += 1;
    this.#held.set(organisationId, (this.#held.get(organisationId) ?? 0) + 1);
  }

  release(organisationId: number): void {
    this.#taken -= 1;
    const held = (this.#held.get(organisationId) ?? 0) - 1;
    if (held > 0) this.#held.set(organisationId, held);
    else this.#held.delete(organisationId);
  }

  /**
   * Releases the slot of an execution that waits for something in memory.
   * @returns false if so many wait like this already that it keeps its slot
   */
  suspend(organisationId: number): boolean {
    const { concurrency, organisationPercent } = this.#settings;
    const suspended = this.#suspended.get(organisationId) ?? 0;
    if (this.#allSuspended >= concurrency || suspended * 100 >= organisationPercent * concurrency)
      return false;
    this.#suspended.set(organisationId, suspended + 1);
    this.#allSuspended += 1;
    this.release(organisationId);
    return true;
  }

  /** Acquires the slot again, even if none is free. */
  resume(organisationId: number): void {
    const suspended = (this.#suspended.get(organisationId) ?? 0) - 1;
    if (suspended > 0) this.#suspended.set(organisationId, suspended);
    else this.#suspended.delete(organisationId);
    this.#allSuspended -= 1;
    this.acquire(organisationId);
  }

  /** @param except free slots that are promised to others */
  mayHoldAnother(organisationId: number, except = 0): boolean {
    const counts = { held: this.#held.get(organisationId) ?? 0, free: this.free - except, all: this.#all };
    return mayHoldAnother(counts, this.#settings.organisationPercent, this.#own.get(organisationId));
  }

  /** The organisations that may hold no further slot at the moment. */
  atShare(): Set<number> {
    return new Set(this.#held.keys().filter((organisationId) => !this.mayHoldAnother(organisationId)));
  }
}
