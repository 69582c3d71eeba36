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
}

/** Whether an organisation that holds `held` slots may be given one of `free` ones. */
export function mayHoldAnother(held: number, free: number, largestPercent: number): boolean {
  return held * (100 - largestPercent) < free * largestPercent;
}
