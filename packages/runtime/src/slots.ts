import { mayHoldAnother, type OrganisationShare, type SlotShares } from '@millrace/engine';
import type { BorrowedSlots } from './borrowed-slots.ts';
import type { SlotCount } from './meters/meters.ts';
import type { WorkerSettings } from './settings.ts';

type SlotSettings = Pick<WorkerSettings, 'concurrency' | 'organisationPercent'>;

/** A worker's slots, each held for an execution of an organisation, and how organisations share them. */
export class Slots {
  readonly #settings: SlotSettings;
  readonly #borrowed: BorrowedSlots | undefined;
  readonly #held = new Map<number, number>();
  #own: ReadonlyMap<number, OrganisationShare> = new Map();
  #taken = 0;
  /** By organisation: executions that wait without a slot. */
  readonly #without = new Map<number, number>();
  #allWithout = 0;

  constructor(settings: SlotSettings, borrowed?: BorrowedSlots) {
    this.#settings = settings;
    this.#borrowed = borrowed;
  }

  /** May be negative: executions found leased to the worker are held whether a slot is free or not. */
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

  /**
   * An execution waits for something that needs no slot, and gives its own back.
   * @returns false if so many wait like that already that it keeps it: they are in memory
   */
  leave(organisationId: number): boolean {
    const { concurrency, organisationPercent } = this.#settings;
    const without = this.#without.get(organisationId) ?? 0;
    if (this.#allWithout >= concurrency || without * 100 >= organisationPercent * concurrency) return false;
    this.#without.set(organisationId, without + 1);
    this.#allWithout += 1;
    this.giveBack(organisationId);
    return true;
  }

  /** It goes on, whether a slot is free or not. */
  comeBack(organisationId: number): void {
    const without = (this.#without.get(organisationId) ?? 0) - 1;
    if (without > 0) this.#without.set(organisationId, without);
    else this.#without.delete(organisationId);
    this.#allWithout -= 1;
    this.take(organisationId);
  }

  /** @param except free slots that are promised to others */
  mayHoldAnother(organisationId: number, except = 0): boolean {
    const counts = { held: this.#held.get(organisationId) ?? 0, free: this.free - except, all: this.#all };
    return mayHoldAnother(counts, this.#settings.organisationPercent, this.#own.get(organisationId));
  }

  /** The organisations that are given no further slot while what is held and free stays as it is. */
  atShare(): Set<number> {
    return new Set(this.#held.keys().filter((organisationId) => !this.mayHoldAnother(organisationId)));
  }
}
