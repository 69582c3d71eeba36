/** Ten free slots that nobody holds, for any organisation. */
export const ALL_SLOTS = {
  ...{ free: 10, held: new Map<number, number>(), largestPercent: 100 },
  ...{ afterOrganisation: 0, takenOfTurn: 0, isTurnOfOldest: false },
};
