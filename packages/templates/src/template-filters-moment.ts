import { type Message, message } from '@millrace/messages';
import {
  divideExact,
  type ExactNumber,
  fromExact,
  multiplyExact,
  toExact,
} from '@millrace/values/exact-number';
import type { JsonValue } from '@millrace/values/json';
import { inZone, isZone, momentAt, type ZonedTime } from '@millrace/values/zoned-time';
import { type FilterGroup, type Spend, takes } from './template-filter.ts';
import { momentOf } from './template-filters-date.ts';

/** Units of the same length everywhere, in milliseconds. */
const FIXED = { milliseconds: 1, seconds: 1_000, minutes: 60_000, hours: 3_600_000 } as const;
/** Units that end when the clocks of a zone say so: so many days, or months. */
const CALENDAR = {
  days: { days: 1 },
  weeks: { days: 7 },
  months: { months: 1 },
  quarters: { months: 3 },
  years: { months: 12 },
} as const;

type FixedUnit = keyof typeof FIXED;
type CalendarUnit = keyof typeof CALENDAR;

const UNITS = [...Object.keys(FIXED), ...Object.keys(CALENDAR)] as (FixedUnit | CalendarUnit)[];

/** In the singular or the plural; null for anything else. */
function unitOf(value: JsonValue | undefined): FixedUnit | CalendarUnit | null {
  if (typeof value !== 'string') return null;
  return UNITS.find((unit) => unit === value || unit === `${value}s`) ?? null;
}

function isFixed(unit: FixedUnit | CalendarUnit): unit is FixedUnit {
  return Object.hasOwn(FIXED, unit);
}

/** No year has more of any unit; larger numbers lead nowhere. */
const MAX_COUNT = 1e9;
/** Looking at clocks takes about this many steps. */
const CLOCK_STEPS = 20;

/** A moment as the other filters and operators read it; null outside of the years that clocks are shown in. */
function textOfMoment(ms: number | null): JsonValue {
  return ms === null || inZone(ms, 'UTC') === null ? null : new Date(ms).toISOString();
}

function add(ms: number, count: ExactNumber, unit: FixedUnit | CalendarUnit, zone: string): number | null {
  if (isFixed(unit)) {
    const { units, scale } = multiplyExact(count, { units: BigInt(FIXED[unit]), scale: 0 });
    return ms + Number(units / 10n ** BigInt(scale));
  }
  const whole = Number(count.units) / 10 ** count.scale;
  return Number.isInteger(whole) && Math.abs(whole) <= MAX_COUNT ? addByClock(ms, whole, unit, zone) : null;
}

function addByClock(ms: number, count: number, unit: CalendarUnit, zone: string): number | null {
  const time = inZone(ms, zone);
  if (time === null) return null;
  const step: { readonly days?: number; readonly months?: number } = CALENDAR[unit];
  if (step.days !== undefined) return momentAt({ ...time, day: time.day + count * step.days }, zone);
  const months = time.year * 12 + time.month - 1 + count * (step.months ?? 0);
  const [year, month] = [Math.floor(months / 12), (((months % 12) + 12) % 12) + 1];
  return momentAt({ ...time, year, month, day: Math.min(time.day, daysIn(year, month)) }, zone);
}

function daysIn(year: number, month: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month, 0);
  return date.getUTCDate();
}

const MIDNIGHT = { hour: 0, minute: 0, second: 0, millisecond: 0 };

function startOf(ms: number, unit: FixedUnit | CalendarUnit, zone: string): number | null {
  const time = inZone(ms, zone);
  if (time === null) return null;
  if (isFixed(unit)) return ms - sinceStart(time, unit);
  const day = { ...time, ...MIDNIGHT };
  switch (unit) {
    case 'days':
      return momentAt(day, zone);
    case 'weeks':
      return momentAt({ ...day, day: time.day - ((time.weekday + 6) % 7) }, zone);
    case 'months':
      return momentAt({ ...day, day: 1 }, zone);
    case 'quarters':
      return momentAt({ ...day, month: time.month - ((time.month - 1) % 3), day: 1 }, zone);
    case 'years':
      return momentAt({ ...day, month: 1, day: 1 }, zone);
  }
}

function sinceStart({ minute, second, millisecond }: ZonedTime, unit: FixedUnit): number {
  if (unit === 'milliseconds') return 0;
  if (unit === 'seconds') return millisecond;
  const seconds = second * 1_000 + millisecond;
  return unit === 'minutes' ? seconds : minute * 60_000 + seconds;
}

function endOf(ms: number, unit: FixedUnit | CalendarUnit, zone: string): number | null {
  const start = startOf(ms, unit, zone);
  if (start === null) return null;
  const next = isFixed(unit) ? start + FIXED[unit] : addByClock(start, 1, unit, zone);
  return next === null ? null : next - 1;
}

function difference(to: number, from: number, unit: FixedUnit | CalendarUnit, zone: string): JsonValue {
  if (!isFixed(unit))
    return to < from ? negated(unitsBetween(to, from, unit, zone)) : unitsBetween(from, to, unit, zone);
  const exact = divideExact({ units: BigInt(to - from), scale: 0 }, { units: BigInt(FIXED[unit]), scale: 0 });
  return exact === null ? null : fromExact(exact);
}

function negated(count: number | null): number | null {
  return count === null || count === 0 ? count : -count;
}

/** How many whole units after the first moment the second one is. */
function unitsBetween(from: number, to: number, unit: CalendarUnit, zone: string): number | null {
  const [start, end] = [inZone(from, zone), inZone(to, zone)];
  if (start === null || end === null) return null;
  const step: { readonly days?: number; readonly months?: number } = CALENDAR[unit];
  const most =
    step.days === undefined
      ? (end.year * 12 + end.month - start.year * 12 - start.month) / (step.months ?? 1)
      : (to - from) / 86_400_000 / step.days + 1;
  const count = Math.max(0, Math.floor(most));
  for (const each of [count, count - 1, count - 2]) {
    const reached = each < 0 ? null : addByClock(from, each, unit, zone);
    if (reached !== null && reached <= to) return each;
  }
  return 0;
}

type FindFault = (args: readonly (JsonValue | undefined)[], name: string) => Message | null;

/** Checks the unit and the zone, at their places among the arguments. */
function faultAt(place: number): FindFault {
  return (args, name) => {
    const [unit, zone] = [args[place], args[place + 1]];
    if (unit !== undefined && unitOf(unit) === null)
      return message('flow.filter_wrong_choice', { name, choices: UNITS.join(', ') });
    return zone === undefined || (typeof zone === 'string' && isZone(zone))
      ? null
      : message('flow.filter_wrong_zone', { name });
  };
}

/** Calls a function with a moment, a unit and a zone if they are valid. */
function withUnit<Result>(
  [value, unit, zone]: readonly [JsonValue, JsonValue | undefined, JsonValue],
  spend: Spend,
  call: (ms: number, unit: FixedUnit | CalendarUnit, zone: string) => Result,
): Result | null {
  spend(CLOCK_STEPS);
  const ms = momentOf(value);
  const found = unitOf(unit);
  return ms === null || found === null || typeof zone !== 'string' ? null : call(ms, found, zone);
}

const OF_UNIT = {
  minArgs: 1,
  maxArgs: 2,
  usage: takes(message('flow.takes_unit_and_zone'), '"month", "Asia/Tokyo"'),
  findFault: faultAt(0),
};

export const MOMENT_FILTERS: FilterGroup = {
  date_add: {
    minArgs: 2,
    maxArgs: 3,
    usage: takes(message('flow.takes_time_and_zone'), '3, "days", "Asia/Tokyo"'),
    findFault: faultAt(1),
    apply: (value, [count = null, unit, zone], _, timezone, spend) =>
      withUnit([value, unit, zone ?? timezone], spend, (ms, found, where) => {
        const exact = toExact(count);
        return exact === null ? null : textOfMoment(add(ms, exact, found, where));
      }),
  },
  date_diff: {
    minArgs: 1,
    maxArgs: 3,
    usage: takes(message('flow.takes_time_and_zone'), 'now, "days", "Asia/Tokyo"'),
    findFault: faultAt(1),
    apply: (value, [other = null, unit = 'days', zone], _, timezone, spend) =>
      withUnit([value, unit, zone ?? timezone], spend, (ms, found, where) => {
        const from = momentOf(other);
        return from === null ? null : difference(ms, from, found, where);
      }),
  },
  start_of: {
    ...OF_UNIT,
    apply: (value, [unit, zone], _, timezone, spend) =>
      withUnit([value, unit, zone ?? timezone], spend, (ms, found, where) =>
        textOfMoment(startOf(ms, found, where)),
      ),
  },
  end_of: {
    ...OF_UNIT,
    apply: (value, [unit, zone], _, timezone, spend) =>
      withUnit([value, unit, zone ?? timezone], spend, (ms, found, where) =>
        textOfMoment(endOf(ms, found, where)),
      ),
  },
};
