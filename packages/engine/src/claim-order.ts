/** `settings.priority`, lowest first. An execution is stored with the index of its workflow's. */
export const PRIORITIES = ['low', 'normal', 'high'] as const;
export type Priority = (typeof PRIORITIES)[number];

export const USUAL_PRIORITY: Priority = 'normal';

/** One in so many claims takes the oldest executions whatever their priority, so that low ones don't starve. */
const CLAIMS_PER_TURN_OF_OLDEST = 10;
/** Its multiples are spread evenly, and so is any regular selection of them: an organisation that has every other turn gets its part, too. */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;

/** @param claims how many claims there have been, this one included */
export function isTurnOfOldest(claims: number): boolean {
  return (claims * GOLDEN_RATIO) % 1 >= 1 - 1 / CLAIMS_PER_TURN_OF_OLDEST;
}
