/** A cron expression as sets of numbers, for the reference. Fields with a wildcard or step make it an interval. */
export interface CronSets {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly daysOfMonth: ReadonlySet<number> | null;
  readonly months: ReadonlySet<number>;
  /** 0 is Sunday. */
  readonly daysOfWeek: ReadonlySet<number> | null;
  readonly isInterval: boolean;
}

interface LocalTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
}

const MINUTE_MS = 60_000;
const formatters = new Map<string, Intl.DateTimeFormat>();

function localTimeAt(zone: string, ms: number): LocalTime {
  const formatter =
    formatters.get(zone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    });
  formatters.set(zone, formatter);
  const parts = Object.fromEntries(
    formatter.formatToParts(ms).map(({ type, value }) => [type, Number(value)]),
  );
  return {
    year: parts.year ?? 0,
    month: parts.month ?? 0,
    day: parts.day ?? 0,
    hour: parts.hour ?? 0,
    minute: parts.minute ?? 0,
  };
}

/** Minutes since 1970 by the wall clock, which jump when clocks change. */
function wallMinutes({ year, month, day, hour, minute }: LocalTime): number {
  return Date.UTC(year, month - 1, day, hour, minute) / MINUTE_MS;
}

const HOUR_MS = 60 * MINUTE_MS;
const hours = new Map<string, number>();

/** The same at the beginning of an hour, asked for once. */
function wallMinutesOfHour(zone: string, hour: number): number {
  const key = `${zone} ${hour}`;
  const minutes = hours.get(key) ?? wallMinutes(localTimeAt(zone, hour * HOUR_MS));
  hours.set(key, minutes);
  return minutes;
}

/** The same at any minute. To ask for each takes seconds, and clocks don't change twice within an hour. */
function wallMinutesAt(zone: string, ms: number): number {
  const hour = Math.floor(ms / HOUR_MS);
  const first = wallMinutesOfHour(zone, hour);
  if (wallMinutesOfHour(zone, hour + 1) !== first + 60) return wallMinutes(localTimeAt(zone, ms));
  return first + (ms - hour * HOUR_MS) / MINUTE_MS;
}

function matches(cron: CronSets, minutes: number): boolean {
  const wall = new Date(minutes * MINUTE_MS);
  if (!cron.minutes.has(wall.getUTCMinutes()) || !cron.hours.has(wall.getUTCHours())) return false;
  if (!cron.months.has(wall.getUTCMonth() + 1)) return false;
  const byMonth = cron.daysOfMonth?.has(wall.getUTCDate());
  const byWeek = cron.daysOfWeek?.has(wall.getUTCDay());
  // Of two restricted fields one is enough, as always in cron.
  if (byMonth === undefined) return byWeek ?? true;
  return byMonth || (byWeek ?? false);
}

/**
 * The fires between two moments, found by checking every minute: slow, and independent of the product's algorithm. Times must be whole
 * minutes.
 */
export function referenceFires(cron: CronSets, zone: string, afterMs: number, untilMs: number): number[] {
  const fires: number[] = [];
  // Two days before: the wall clock may have shown the first minutes already.
  let highest = wallMinutesAt(zone, afterMs - 2 * 86_400_000);
  for (let ms = afterMs - 2 * 86_400_000; ms <= untilMs; ms += MINUTE_MS) {
    const now = wallMinutesAt(zone, ms);
    const isRepeated = now < highest;
    const skipped = Array.from({ length: Math.max(0, now - highest - 1) }, (_, index) => highest + 1 + index);
    const fromGap = !cron.isInterval && skipped.some((minutes) => matches(cron, minutes));
    const isDue = (matches(cron, now) && (cron.isInterval || !isRepeated || now === highest)) || fromGap;
    if (isDue && ms > afterMs) fires.push(ms);
    highest = Math.max(highest, now);
  }
  return fires;
}
