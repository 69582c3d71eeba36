/**
 * How the free slots of a claiming worker are shared. An organisation is given another one while what it holds is less than its share of
 * what it holds and what is free, so some stay free for the others, and the more organisations hold slots, the fewer each may hold
 * (dynamic thresholds, Choudhury and Hahne 1998).
 */
export interface SlotShares {
  /** Free slots of the worker. */
  readonly free: number;
  /** Its slots by the organisation that holds them; none for those not listed. */
  readonly held: ReadonlyMap<number, number>;
  /** Percentage of all slots one organisation may hold when no other holds any: 1 to 100, which is no limit. */
  readonly largestPercent: number;
  /** Organisations with a share of their own; {@link DEFAULT_SHARE} for those not listed. */
  readonly own?: ReadonlyMap<number, OrganisationShare>;
}

/** What an organisation is given compared to others. */
export interface OrganisationShare {
  /** Slots are shared in this proportion, and a turn is as many executions: 1 to 100. */
  readonly weight: number;
  /** Percentage of all slots it may hold, regardless of how many are free; rounded up, so that it always gets one; 0 while it is paused. */
  readonly capPercent: number;
}

export const DEFAULT_SHARE: OrganisationShare = { weight: 1, capPercent: 100 };

/** Slots of one worker: those an organisation holds, those that are free, and all. */
export interface SlotCounts {
  readonly held: number;
  readonly free: number;
  readonly all: number;
}

/** Whether an organisation may be given one of the free slots. */
export function mayHoldAnother(
  { held, free, all }: SlotCounts,
  largestPercent: number,
  { weight, capPercent }: OrganisationShare = DEFAULT_SHARE,
): boolean {
  return held * (100 - largestPercent) < weight * largestPercent * free && held * 100 < capPercent * all;
}

/** All slots of the worker. */
export function countSlots({ free, held }: Pick<SlotShares, 'free' | 'held'>): number {
  return held.values().reduce((sum, slots) => sum + slots, free);
}
