import { describe, expect, test } from 'vitest';
import { cronText } from './cron-text.ts';

describe('cronText', () => {
  test.each([
    ['0 9 * * 1-5', 'At 09:00, Monday through Friday', '09:00、月曜日から金曜日まで'],
    ['*/15 * * * *', 'Every 15 minutes', '15 分ごと'],
    ['30 8 * * 1', 'At 08:30, only on Monday', '08:30、月曜日'],
    ['0 0 1 1 *', 'At 00:00, on day 1 of the month, only in January', '00:00、月の 1 日目、1月'],
    ['0 9,18 * * *', 'At 09:00 and 18:00', '09:00と18:00'],
    [
      '*/10 9-17 * * 1-5',
      'Every 10 minutes, between 09:00 and 17:59, Monday through Friday',
      '10 分ごと、09:00と17:59の間、月曜日から金曜日まで',
    ],
  ])('%s', (cron, en, ja) => {
    expect(cronText(cron, 'en')).toBe(en);
    expect(cronText(cron, 'ja')).toBe(ja);
  });

  test('returns nothing for an invalid expression', () => {
    expect(cronText('whenever', 'en')).toBeNull();
  });
});
