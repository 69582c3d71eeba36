import { expect, test } from 'vitest';
import { message } from './message.ts';
import { keysOfTextsWith } from './texts.ts';

test('finds sentences by a word of either language, but not by the name of a parameter', () => {
  const { key } = message('flow.not_in_range', { min: 1, max: 2 });
  expect(keysOfTextsWith('WHOLE')).toContain(key);
  expect(keysOfTextsWith('整数')).toContain(key);
  expect(keysOfTextsWith('min}}')).not.toContain(key);
  expect(keysOfTextsWith('zebra')).toEqual([]);
});

test('finds a sentence with plural forms once, by its key', () => {
  const { key } = message('flow.too_long', { count: 3 });
  expect(keysOfTextsWith('characters').filter((found) => found === key)).toEqual([key]);
});
