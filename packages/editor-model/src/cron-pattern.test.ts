import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CronPattern, cronOf, PATTERN_KINDS, patternOf, startOf } from './cron-pattern.ts';

describe('patternOf', () => {
  test.each<[string, CronPattern]>([
    ['* * * * *', { kind: 'minutes', every: 1 }],
    ['*/15 * * * *', { kind: 'minutes', every: 15 }],
    ['5 * * * *', { kind: 'hourly', minute: 5 }],
    ['30 2 * * *', { kind: 'daily', time: '02:30' }],
    ['0 9 * * 1-5', { kind: 'weekly', time: '09:00', days: [1, 2, 3, 4, 5] }],
    ['0 9 * * 7', { kind: 'weekly', time: '09:00', days: [0] }],
    [' 0  9 1 * * ', { kind: 'monthly', time: '09:00', day: 1 }],
  ])('%s', (cron, pattern) => {
    expect(patternOf(cron)).toEqual(pattern);
  });

  test.each([
    '',
    '0 9 * *',
    '0 0 9 * * *',
    '0 9 1 * 1',
    '0 9 * 3 *',
    '0 9 L * *',
    '0 9 * * MON',
    '0 9 * * 5-1',
    '*/0 * * * *',
    '60 * * * *',
    '0 24 * * *',
    '0,30 9 * * *',
    '0 9 * * 1#2',
  ])('%j is shown as written', (cron) => {
    expect(patternOf(cron)).toEqual({ kind: 'custom', cron });
  });
});

test('a pattern is recognised in its expression', () => {
  const time = fc
    .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
    .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`);
  const days = fc
    .uniqueArray(fc.integer({ min: 0, max: 6 }), { minLength: 1 })
    .map((all) => all.sort((a, b) => a - b));
  const pattern = fc.oneof<fc.Arbitrary<CronPattern>[]>(
    fc.record({ kind: fc.constant('minutes' as const), every: fc.integer({ min: 1, max: 59 }) }),
    fc.record({ kind: fc.constant('hourly' as const), minute: fc.integer({ min: 0, max: 59 }) }),
    fc.record({ kind: fc.constant('daily' as const), time }),
    fc.record({ kind: fc.constant('weekly' as const), time, days }),
    fc.record({ kind: fc.constant('monthly' as const), time, day: fc.integer({ min: 1, max: 31 }) }),
  );
  fc.assert(
    fc.property(pattern, (each) => {
      expect(patternOf(cronOf(each))).toEqual(each);
    }),
  );
});

test('another kind keeps the time of day, custom keeps the expression', () => {
  const daily: CronPattern = { kind: 'daily', time: '17:45' };
  expect(cronOf(startOf('weekly', daily))).toBe('45 17 * * 1-5');
  expect(startOf('custom', daily)).toEqual({ kind: 'custom', cron: '45 17 * * *' });
  for (const kind of PATTERN_KINDS) expect(startOf(kind, daily).kind).toBe(kind);
});
