import i18next from 'i18next';
import { beforeAll, expect, test } from 'vitest';
import common from '../i18n/en/common.json';
import { formatDuration, formatRoundTime } from './time.tsx';

beforeAll(() => i18next.init({ lng: 'en', resources: { en: { translation: { common } } } }));

test.each([
  [999.6, '1.00 s'],
  [12_340, '12.3 s'],
  [59_960, '1 min 00 s'],
  [185_000, '3 min 05 s'],
  [7_800_000, '2 h 10 min'],
])('%d milliseconds are %s', (ms, expected) => {
  expect(formatDuration(ms)).toBe(expected);
});

test('a round time has no decimals', () => {
  expect(formatRoundTime(20_000)).toBe('20 s');
  expect(formatRoundTime(500)).toBe('500 ms');
  expect(formatRoundTime(90_000)).toBe('1 min 30 s');
});
