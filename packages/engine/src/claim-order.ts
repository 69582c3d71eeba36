/** `settings.priority`, lowest first. An execution is stored with the index of its workflow's. */
export const PRIORITIES = ['low', 'normal', 'high'] as const;
export type Priority = (typeof PRIORITIES)[number];

export const USUAL_PRIORITY: Priority = 'normal';

/** One claim in this many takes the oldest executions regardless of priority, so that low ones don't starve. */
const CLAIMS_PER_TURN_OF_OLDEST = 10;
/** Its multiples are spread evenly, and so is any regular selection of them: an organisation with every other turn gets its share, too. */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;

/** @param claims number of claims so far, including this one */
export function isTurnOfOldest(claims: number): boolean {
  return (claims * GOLDEN_RATIO) % 1 >= 1 - 1 / CLAIMS_PER_TURN_OF_OLDEST;
}
