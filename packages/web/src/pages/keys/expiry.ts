/** Days after which a key may end, as they are offered; 90 is suggested. */
export const EXPIRY_CHOICES = ['30', '90', '180', '365', 'date', 'never'] as const;
export type ExpiryChoice = (typeof EXPIRY_CHOICES)[number];

const DAY_MS = 86_400_000;

/**
 * When a key ends that is issued now.
 * @param date `2027-01-31`, for the choice `date`: its last moment in the reader's zone
 * @returns null: never; undefined: the date is none, or has passed
 */
export function expiryOf(choice: ExpiryChoice, date: string, now: number): string | null | undefined {
  if (choice === 'never') return null;
  if (choice !== 'date') return new Date(now + Number(choice) * DAY_MS).toISOString();
  const end = new Date(`${date}T23:59:59`);
  return Number.isNaN(end.getTime()) || end.getTime() <= now ? undefined : end.toISOString();
}
