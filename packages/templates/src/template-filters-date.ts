import { message } from '@millrace/messages';
import { isRawNumber, type JsonValue } from '@millrace/values/json';
import { utf8Bytes } from '@millrace/values/json-size';
import { inZone, isZone, parseMoment, type ZonedTime } from '@millrace/values/zoned-time';
import { type FilterGroup, TemplateSizeError, takes } from './template-filter.ts';
import { toNumber } from './template-filters-number.ts';

const DEFAULT_FORMAT = 'yyyy-MM-ddTHH:mm:ssXXX';
/** A longer format is a mistake. */
const MAX_FORMAT_LENGTH = 1_000;
/** Numbers closer to zero than this are seconds: as milliseconds they would be between 1966 and 1973. */
const FIRST_MILLISECONDS = 1e11;

const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);
const WEEKDAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

const two = (value: number): string => String(value).padStart(2, '0');
const hour12 = (hour: number): number => hour % 12 || 12;

function offset(minutes: number, separator: string): string {
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}${separator}${two(size % 60)}`;
}

/** The letters of a format (a subset of Unicode TR 35), longest first where one starts another. */
const TOKENS: { readonly [token: string]: (time: ZonedTime) => string } = {
  yyyy: ({ year }) => String(year).padStart(4, '0'),
  yy: ({ year }) => two(year % 100),
  MMMM: ({ month }) => MONTHS[month - 1] ?? '',
  MMM: ({ month }) => (MONTHS[month - 1] ?? '').slice(0, 3),
  MM: ({ month }) => two(month),
  M: ({ month }) => String(month),
  dd: ({ day }) => two(day),
  d: ({ day }) => String(day),
  EEEE: ({ weekday }) => WEEKDAYS[weekday] ?? '',
  EEE: ({ weekday }) => (WEEKDAYS[weekday] ?? '').slice(0, 3),
  HH: ({ hour }) => two(hour),
  H: ({ hour }) => String(hour),
  hh: ({ hour }) => two(hour12(hour)),
  h: ({ hour }) => String(hour12(hour)),
  mm: ({ minute }) => two(minute),
  m: ({ minute }) => String(minute),
  ss: ({ second }) => two(second),
  s: ({ second }) => String(second),
  SSS: ({ millisecond }) => String(millisecond).padStart(3, '0'),
  a: ({ hour }) => (hour < 12 ? 'AM' : 'PM'),
  XXX: ({ offsetMinutes }) => (offsetMinutes === 0 ? 'Z' : offset(offsetMinutes, ':')),
  xxx: ({ offsetMinutes }) => offset(offsetMinutes, ':'),
  xx: ({ offsetMinutes }) => offset(offsetMinutes, ''),
};

/** Text in single quotes, a doubled quote, a token, or any other character. */
const FORMAT_PART = new RegExp(`''|'(?:[^']|'')*'|${Object.keys(TOKENS).join('|')}|[^]`, 'gu');

/** Formats that are words, and produce numbers or the standard machine-readable form. */
const NAMED: ReadonlyMap<JsonValue, (ms: number) => JsonValue> = new Map<
  JsonValue,
  (ms: number) => JsonValue
>([
  ['iso', (ms) => new Date(ms).toISOString()],
  ['unix', (ms) => Math.floor(ms / 1000)],
  ['unix_ms', (ms) => ms],
]);

/** Milliseconds since 1970 of an ISO 8601 string, of seconds or of milliseconds; null for anything else. */
export function momentOf(value: JsonValue): number | null {
  const number = toNumber(value);
  if (typeof number === 'number') {
    return Math.abs(number) < FIRST_MILLISECONDS ? Math.trunc(number * 1000) : Math.trunc(number);
  }
  return isRawNumber(number) || typeof value !== 'string' ? null : parseMoment(value.trim());
}

/**
 * A formatted moment.
 * @returns null for an invalid moment, an unknown zone, and years without exactly four digits
 */
export function formatDate(value: JsonValue, format: JsonValue, zone: JsonValue): JsonValue {
  const ms = momentOf(value);
  if (ms === null || typeof format !== 'string' || format.length > MAX_FORMAT_LENGTH) return null;
  const time = typeof zone === 'string' ? inZone(ms, zone) : null;
  if (time === null) return null;
  const named = NAMED.get(format);
  if (named !== undefined) return named(ms);
  return format.replace(FORMAT_PART, (part) => {
    if (part === "''") return "'";
    if (part.length > 1 && part.startsWith("'")) return part.slice(1, -1).replaceAll("''", "'");
    return TOKENS[part]?.(time) ?? part;
  });
}

export const DATE_FILTERS: FilterGroup = {
  date: {
    minArgs: 0,
    maxArgs: 2,
    usage: takes(message('flow.takes_format_and_zone'), '"yyyy-MM-dd HH:mm", "Asia/Tokyo"'),
    findFault: ([, zone], name) =>
      zone === undefined || (typeof zone === 'string' && isZone(zone))
        ? null
        : message('flow.filter_wrong_zone', { name }),
    apply(value, [format = DEFAULT_FORMAT, zone], maxBytes, timezone) {
      const date = formatDate(value, format, zone === undefined ? timezone : zone);
      if (typeof date === 'string' && utf8Bytes(date) > maxBytes) throw new TemplateSizeError(maxBytes);
      return date;
    },
  },
};
