import { expect, test } from 'vitest';
import { formatAmount } from './format-amount.ts';

test.each<[string, number, string, string | null]>([
  ['timeout_ms', 340, 'en', '340 ms'],
  ['timeout_ms', 5_000, 'en', '5 sec'],
  ['timeout_ms', 90_500, 'en', '1 min 30.5 sec'],
  ['window_s', 86_400, 'en', '1 day'],
  ['window_s', 90_061, 'en', '1 day 1 hr'],
  ['timeout_s', 7_200, 'ja', '2 時間'],
  ['max_response_bytes', 1_048_576, 'en', '1 MB'],
  ['max_response_bytes', 100, 'en', '100 bytes'],
  ['memory_mb', 64, 'en', '64 MB'],
  ['timeout_ms', 0, 'en', null],
  ['timeout_ms', Number.NaN, 'en', null],
  ['count', 5_000, 'en', null],
])('%s %d in %s', (name, value, language, words) => {
  expect(formatAmount(name, value, language)).toBe(words);
});
