import { runs } from '@millrace/testing/property-runs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jitterMs, nextFires } from './next-fires.ts';
import { type CronSets, referenceFires } from './test-reference.ts';

const cron = (expression: string, timezone: string) =>
  ({ schedule: { type: 'cron', cron: expression }, timezone }) as const;
const every = (count: number, unit: 'seconds' | 'minutes' | 'hours' | 'days', timezone = 'UTC') =>
  ({ schedule: { type: 'every', every: count, unit }, timezone }) as const;
const firesOf = (timing: Parameters<typeof nextFires>[0], after: string, count: number) =>
  nextFires(timing, Date.parse(after), count).map((ms) => new Date(ms).toISOString().replace('.000Z', 'Z'));

describe('cron', () => {
  it('counts from the given time, exclusively', () => {
    expect(firesOf(cron('0 9 * * *', 'UTC'), '2026-01-01T09:00:00Z', 2)).toEqual([
      '2026-01-02T09:00:00Z',
      '2026-01-03T09:00:00Z',
    ]);
    expect(firesOf(cron('0 9 * * *', 'UTC'), '2026-01-01T08:59:59.999Z', 1)).toEqual([
      '2026-01-01T09:00:00Z',
    ]);
    expect(firesOf(cron('0 9 * * *', 'UTC'), '2026-01-01T09:00:00.001Z', 1)).toEqual([
      '2026-01-02T09:00:00Z',
    ]);
  });

  it('accepts seconds in front', () => {
    expect(firesOf(cron('*/20 0 9 * * *', 'UTC'), '2026-01-01T00:00:00Z', 4)).toEqual([
      '2026-01-01T09:00:00Z',
      '2026-01-01T09:00:20Z',
      '2026-01-01T09:00:40Z',
      '2026-01-02T09:00:00Z',
    ]);
  });

  it('ends when there are no more fires', () => {
    expect(nextFires(cron('0 0 30 2 *', 'UTC'), 0, 5)).toEqual([]);
  });

  it.each(['', '* * * *', '* * * * * * *', '61 * * * *', '? * * * *', '@reboot', 'a b c d e'])(
    'refuses %j',
    (expression) => {
      expect(() => nextFires(cron(expression, 'UTC'), 0, 1)).toThrow();
    },
  );
});

describe('other notations of cron', () => {
  it.each([
    ['@yearly', '0 0 1 1 *'],
    ['@annually', '0 0 1 1 *'],
    ['@monthly', '0 0 1 * *'],
    ['@weekly', '0 0 * * SUN'],
    [' @Daily ', '0 0 * * *'],
    ['@midnight', '0 0 * * *'],
    ['@hourly', '0 * * * *'],
    ['0/15 * * * *', '*/15 * * * *'],
    ['5/20 * * * *', '5,25,45 * * * *'],
    ['10/30 0 9 * * *', '10,40 0 9 * * *'],
    ['0 9 1/10 * *', '0 9 1,11,21,31 * *'],
    ['0 9 1 MAR/4 *', '0 9 1 3,7,11 *'],
    ['0 9 * * MON/2', '0 9 * * 1,3,5'],
    ['0 9 * * FRI-MON', '0 9 * * FRI,SAT,SUN,MON'],
    ['0 9 * * fri-mon/2', '0 9 * * FRI,SUN'],
    ['0 9 * * 5-7', '0 9 * * FRI,SAT,SUN'],
    ['0 9 * * 7-2', '0 9 * * SUN,MON,TUE'],
    ['0 9 * * 0-7', '0 9 * * *'],
    ['0 22-4 * * *', '0 0,1,2,3,4,22,23 * * *'],
    ['0 22-4/3 * * *', '0 22,1,4 * * *'],
    ['0 23-6/5 * * *', '0 23,4 * * *'],
    ['50-10/10 * * * *', '50,0,10 * * * *'],
    ['0 9 28-3 * *', '0 9 28,29,30,31,1,2,3 * *'],
    ['0 9 1 NOV-FEB *', '0 9 1 11,12,1,2 *'],
    ['0 9 1 11-2/2 *', '0 9 1 11,1 *'],
    ['0 8,20-2,12 * * *', '0 8,12,20,21,22,23,0,1,2 * * *'],
  ])('%s is %s', (written, meant) => {
    const after = '2026-01-01T00:30:00Z';
    expect(firesOf(cron(written, 'UTC'), after, 40)).toEqual(firesOf(cron(meant, 'UTC'), after, 40));
  });
});

describe('clocks going forward', () => {
  it.each([
    // The gap is from 2:00 to 3:00, so the first moment after it is 3:00 daylight saving time.
    ['Europe/Berlin', '30 2 * * *', '2026-03-28T12:00:00Z', ['2026-03-29T01:00:00Z', '2026-03-30T00:30:00Z']],
    [
      'America/New_York',
      '30 2 * * *',
      '2026-03-07T12:00:00Z',
      ['2026-03-08T07:00:00Z', '2026-03-09T06:30:00Z'],
    ],
    // A gap of half an hour: 2:00 becomes 2:30.
    [
      'Australia/Lord_Howe',
      '15 2 * * *',
      '2026-10-03T00:00:00Z',
      ['2026-10-03T15:30:00Z', '2026-10-04T15:15:00Z'],
    ],
  ])('%s: %s inside the gap fires once, right after it', (zone, expression, after, fires) => {
    expect(firesOf(cron(expression, zone), after, 2)).toEqual(fires);
  });

  it('several fires of one gap are one, also with a fire due then anyway', () => {
    expect(firesOf(cron('0,30 2,3 * * *', 'Europe/Berlin'), '2026-03-28T12:00:00Z', 3)).toEqual([
      '2026-03-29T01:00:00Z',
      '2026-03-29T01:30:00Z',
      '2026-03-30T00:00:00Z',
    ]);
  });

  it('a list of times counts as fixed times, too', () => {
    expect(firesOf(cron('0,30 2 * * *', 'Europe/Berlin'), '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:00:00Z',
      '2026-03-30T00:00:00Z',
    ]);
  });

  it('an interval skips times in the gap', () => {
    expect(firesOf(cron('*/30 2 * * *', 'Europe/Berlin'), '2026-03-28T12:00:00Z', 1)).toEqual([
      '2026-03-30T00:00:00Z',
    ]);
    expect(firesOf(cron('0 * * * *', 'Europe/Berlin'), '2026-03-29T00:30:00Z', 2)).toEqual([
      '2026-03-29T01:00:00Z',
      '2026-03-29T02:00:00Z',
    ]);
  });
});

describe('clocks going back', () => {
  it.each([
    ['Europe/Berlin', '30 2 * * *', '2026-10-24T12:00:00Z', ['2026-10-25T00:30:00Z', '2026-10-26T01:30:00Z']],
    [
      'America/New_York',
      '30 1 * * *',
      '2026-10-31T12:00:00Z',
      ['2026-11-01T05:30:00Z', '2026-11-02T06:30:00Z'],
    ],
    [
      'Australia/Lord_Howe',
      '45 1 * * *',
      '2026-04-04T00:00:00Z',
      ['2026-04-04T14:45:00Z', '2026-04-05T15:15:00Z'],
    ],
  ])('%s: %s inside the overlap fires once', (zone, expression, after, fires) => {
    expect(firesOf(cron(expression, zone), after, 2)).toEqual(fires);
  });

  it('each time in a list fires once', () => {
    expect(firesOf(cron('0,30 2 * * *', 'Europe/Berlin'), '2026-10-24T12:00:00Z', 3)).toEqual([
      '2026-10-25T00:00:00Z',
      '2026-10-25T00:30:00Z',
      '2026-10-26T01:00:00Z',
    ]);
  });

  it('asked between the two occurrences, the second is not a fire either', () => {
    expect(firesOf(cron('30 2 * * *', 'Europe/Berlin'), '2026-10-25T00:45:00Z', 1)).toEqual([
      '2026-10-26T01:30:00Z',
    ]);
  });

  it('an interval continues by elapsed time', () => {
    expect(firesOf(cron('*/30 * * * *', 'Europe/Berlin'), '2026-10-24T23:45:00Z', 5)).toEqual([
      '2026-10-25T00:00:00Z',
      '2026-10-25T00:30:00Z',
      '2026-10-25T01:00:00Z',
      '2026-10-25T01:30:00Z',
      '2026-10-25T02:00:00Z',
    ]);
  });
});

describe('every', () => {
  it('is anchored at a local midnight, whenever it is asked', () => {
    expect(firesOf(every(15, 'minutes'), '2026-01-01T00:00:00Z', 2)).toEqual([
      '2026-01-01T00:15:00Z',
      '2026-01-01T00:30:00Z',
    ]);
    // Kathmandu is 5:45 ahead: whole hours of its local time.
    expect(firesOf(every(1, 'hours', 'Asia/Kathmandu'), '2026-01-01T00:00:00Z', 2)).toEqual([
      '2026-01-01T00:15:00Z',
      '2026-01-01T01:15:00Z',
    ]);
    expect(firesOf(every(7, 'days'), '2026-01-01T00:00:00Z', 2)).toEqual([
      '2026-01-05T00:00:00Z',
      '2026-01-12T00:00:00Z',
    ]);
  });

  it("is elapsed time: clock changes don't affect it", () => {
    const fires = nextFires(every(7, 'hours', 'Europe/Berlin'), Date.parse('2026-03-27T00:00:00Z'), 20);
    expect(new Set(fires.slice(1).map((fire, index) => fire - (fires[index] ?? 0)))).toEqual(
      new Set([7 * 3_600_000]),
    );
  });

  it('is the same before the anchor', () => {
    expect(firesOf(every(1, 'days'), '1999-12-31T12:00:00Z', 1)).toEqual(['2000-01-01T00:00:00Z']);
  });
});

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/St_Johns',
  'Pacific/Apia',
  'Asia/Kathmandu',
  'America/Santiago',
  'Africa/Cairo',
];

interface Field {
  readonly text: string;
  readonly values: ReadonlySet<number> | null;
  readonly isOpen: boolean;
}

const all = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

/** @param highest the largest number with a name */
function fieldFrom(from: number, to: number, highest = to): fc.Arbitrary<Field> {
  const number = fc.integer({ min: from, max: highest });
  return fc.oneof(
    fc.constant({ text: '*', values: null, isOpen: true }),
    number.map((value) => ({ text: String(value), values: new Set([value]), isOpen: false })),
    fc.uniqueArray(number, { minLength: 2, maxLength: 4 }).map((values) => ({
      text: values.join(','),
      values: new Set(values),
      isOpen: false,
    })),
    fc.tuple(number, number).map(([one, other]) => {
      const [low, high] = [Math.min(one, other), Math.max(one, other)];
      return { text: `${low}-${high}`, values: new Set(all(low, high)), isOpen: false };
    }),
    fc.integer({ min: 2, max: Math.min(30, to - from) }).map((step) => ({
      text: `*/${step}`,
      values: new Set(all(from, to).filter((value) => (value - from) % step === 0)),
      isOpen: true,
    })),
  );
}

const expressions = fc
  .record({
    minute: fieldFrom(0, 59),
    hour: fc.oneof(fieldFrom(0, 23), fieldFrom(0, 23, 4)),
    day: fieldFrom(1, 31),
    month: fieldFrom(1, 12),
    weekday: fieldFrom(0, 6),
  })
  .map(({ minute, hour, day, month, weekday }) => ({
    text: [minute, hour, day, month, weekday].map((field) => field.text).join(' '),
    sets: {
      minutes: minute.values ?? new Set(all(0, 59)),
      hours: hour.values ?? new Set(all(0, 23)),
      daysOfMonth: day.values,
      months: month.values ?? new Set(all(1, 12)),
      daysOfWeek: weekday.values,
      isInterval: minute.isOpen || hour.isOpen,
    } satisfies CronSets,
  }));

/** Mostly around the weekends on which some of the zones change their clocks. */
const moments = fc
  .tuple(
    fc.constantFrom(
      '2026-03-07',
      '2026-03-28',
      '2026-04-04',
      '2026-04-24',
      '2026-09-05',
      '2026-10-03',
      '2026-10-24',
      '2026-10-29',
      '2026-10-31',
      '2026-07-01',
    ),
    fc.integer({ min: 0, max: 2 * 24 * 60 }),
  )
  .map(([day, minutes]) => Date.parse(`${day}T00:00:00Z`) + minutes * 60_000);

describe('any cron expression in any zone', () => {
  const WINDOW_MS = 3 * 86_400_000;

  it('fires when a clock checked every minute would', () => {
    fc.assert(
      fc.property(expressions, fc.constantFrom(...ZONES), moments, ({ text, sets }, zone, afterMs) => {
        const expected = referenceFires(sets, zone, afterMs, afterMs + WINDOW_MS);
        const fires = nextFires(cron(text, zone), afterMs, expected.length + 1);
        expect(fires.slice(0, expected.length)).toEqual(expected);
        expect(fires[expected.length] ?? Number.POSITIVE_INFINITY).toBeGreaterThan(afterMs + WINDOW_MS);
      }),
      { numRuns: runs(150) },
    );
  });

  it('is monotonic, and continues the same from any fire', () => {
    fc.assert(
      fc.property(expressions, fc.constantFrom(...ZONES), moments, ({ text }, zone, afterMs) => {
        const fires = nextFires(cron(text, zone), afterMs, 12);
        expect(fires).toEqual([...new Set(fires)].sort((a, b) => a - b));
        for (const [index, fire] of fires.slice(0, -1).entries()) {
          expect(fire).toBeGreaterThan(afterMs);
          expect(nextFires(cron(text, zone), fire, 1)).toEqual([fires[index + 1]]);
        }
      }),
      { numRuns: runs(150) },
    );
  });
});

describe('jitter', () => {
  const name = 'schedule 7';

  it('is the same for the same fire and within its bounds', () => {
    const fires = nextFires(every(1, 'hours'), Date.parse('2026-01-01T00:00:00Z'), 300);
    const delays = fires.map((fire) => jitterMs({ jitter_s: 600 }, name, fire));
    expect(fires.map((fire) => jitterMs({ jitter_s: 600 }, name, fire))).toEqual(delays);
    for (const delay of delays) {
      expect(delay).toBeGreaterThanOrEqual(0);
      expect(delay).toBeLessThanOrEqual(600_000);
    }
    expect(new Set(delays).size).toBeGreaterThan(250);
    expect(delays.filter((delay) => delay > 300_000).length).toBeGreaterThan(100);
    expect(delays.filter((delay) => delay <= 300_000).length).toBeGreaterThan(100);
  });

  it('differs between schedules, and is zero by default', () => {
    expect(jitterMs({ jitter_s: 600 }, 'a', 0)).not.toBe(jitterMs({ jitter_s: 600 }, 'b', 0));
    expect(jitterMs({ jitter_s: 0 }, 'a', 0)).toBe(0);
  });
});
