/** A moment as shown by the clocks of a time zone. */
export interface ZonedTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly millisecond: number;
  /** 0 for Sunday. */
  readonly weekday: number;
  /** Minutes east of UTC. */
  readonly offsetMinutes: number;
}

/** ISO 8601 as in RFC 3339, with optional time and zone: then it is midnight, or UTC. */
const MOMENT =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:([Zz])|([+-])(\d{2}):?(\d{2}))?)?$/;

/** Milliseconds since 1970; null for an invalid moment, including the 30th of February. */
export function parseMoment(text: string): number | null {
  const match = MOMENT.exec(text);
  if (match === null) return null;
  const part = (index: number): number => Number(match[index] ?? 0);
  const [year, month, day, hour, minute, second] = [1, 2, 3, 4, 5, 6].map(part) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [offsetHours, offsetMinutes] = [part(10), part(11)];
  if (hour > 23 || minute > 59 || second > 59 || offsetHours > 23 || offsetMinutes > 59) return null;
  const date = new Date(0);
  // Unlike Date.UTC this doesn't change the years 0 to 99.
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  const millisecond = Math.trunc(Number(`0.${match[7] ?? '0'}`) * 1000);
  date.setUTCHours(hour, minute, second, millisecond);
  const sign = match[9] === '-' ? -1 : 1;
  return date.getTime() - sign * (offsetHours * 60 + offsetMinutes) * 60_000;
}

/** One formatter per zone: creating one costs as much as a thousand uses. */
const formatters = new Map<string, Intl.DateTimeFormat | null>();
const MAX_FORMATTERS = 200;

function formatterOf(zone: string): Intl.DateTimeFormat | null {
  const known = formatters.get(zone);
  if (known !== undefined) return known;
  const made = makeFormatter(zone);
  if (formatters.size >= MAX_FORMATTERS) formatters.clear();
  formatters.set(zone, made);
  return made;
}

function makeFormatter(zone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      calendar: 'iso8601',
      numberingSystem: 'latn',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    return null;
  }
}

/** Whether it is an IANA time zone. An offset such as `+09:00` is none: it has no daylight saving time. */
export function isNamedZone(zone: string): boolean {
  return /^[A-Za-z]/.test(zone) && isZone(zone);
}

/** Whether it is an IANA time zone (`Asia/Tokyo`, `UTC`) or an offset (`+09:00`). */
export function isZone(zone: string): boolean {
  return formatterOf(zone) !== null;
}

const FIRST_MS = Date.parse('0001-01-02T00:00:00Z');
const LAST_MS = Date.parse('9999-12-30T23:59:59Z');

/** A moment in a zone; null for an unknown zone, before the year 1 and after 9999. */
export function inZone(ms: number, zone: string): ZonedTime | null {
  const formatter = formatterOf(zone);
  if (formatter === null || !(ms >= FIRST_MS && ms <= LAST_MS)) return null;
  const parts = new Map(formatter.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const [year, month, day] = [part('year'), part('month'), part('day')];
  const [hour, minute, second] = [part('hour'), part('minute'), part('second')];
  const shown = new Date(0);
  shown.setUTCFullYear(year, month - 1, day);
  shown.setUTCHours(hour, minute, second);
  const offsetMinutes = Math.trunc((shown.getTime() - Math.floor(ms / 1000) * 1000) / 60_000);
  const millisecond = ((ms % 1000) + 1000) % 1000;
  return { year, month, day, hour, minute, second, millisecond, weekday: shown.getUTCDay(), offsetMinutes };
}

const DAY_MS = 86_400_000;

/** What the clocks of a zone show, without the weekday and the offset, which follow from it. */
type ClockTime = Omit<ZonedTime, 'weekday' | 'offsetMinutes'>;

/** What clocks show, as if it were UTC: days and months beyond their ends go on into the next ones. */
function asUtc({ year, month, day, hour, minute, second, millisecond }: ClockTime): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.setUTCHours(hour, minute, second, millisecond);
}

/**
 * The moment at which clocks show this; days and months beyond their ends go on into the next ones. Of two such moments it is the first;
 * what is skipped when clocks are put forward counts as that much later.
 * @returns null for an unknown zone and for moments that {@link inZone} doesn't show
 */
export function momentAt(clock: ClockTime, zone: string): number | null {
  const shown = asUtc(clock);
  const [before, after] = [shown - DAY_MS, shown + DAY_MS].map((ms) => {
    const time = inZone(ms, zone);
    return time === null ? null : asUtc(time) - ms;
  });
  if (before == null || after == null) return null;
  const found = [shown - before, shown - after]
    .filter((ms) => {
      const time = inZone(ms, zone);
      return time !== null && asUtc(time) === shown;
    })
    .toSorted((a, b) => a - b);
  return found[0] ?? shown - before;
}
