import { inZone } from '@millrace/engine';

/** Minutes since midnight; equal: never quiet. */
export interface QuietHours {
  readonly from: number;
  readonly to: number;
}

const DAY = 24 * 60;

/**
 * When the quiet hours at a moment end; null if it isn't in them. On a day with a change of the clocks it may be off by that
 * change, so ask again then.
 * @param zone IANA name; one that isn't known counts as UTC
 */
export function endOfQuietHours(nowMs: number, zone: string, { from, to }: QuietHours): number | null {
  const shown = inZone(nowMs, zone) ?? inZone(nowMs, 'UTC');
  if (shown === null) return null;
  const minute = shown.hour * 60 + shown.minute;
  const isQuiet = from <= to ? minute >= from && minute < to : minute >= from || minute < to;
  if (!isQuiet) return null;
  const startOfMinuteMs = nowMs - shown.second * 1000 - shown.millisecond;
  return startOfMinuteMs + ((to - minute + DAY) % DAY) * 60_000;
}
