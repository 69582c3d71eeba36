import { expect, test } from 'vitest';
import { withoutSecret } from './live-text.ts';

test.each<[string, string | null, string]>([
  ['Hello', null, 'Hello'],
  ['Hello', 'sk-1234', 'Hello'],
  ['It is sk-1234.', 'sk-1234', 'It is ***.'],
  ['It is sk-1', 'sk-1234', 'It is '],
  ['It is s', 'sk-1234', 'It is '],
  ['sk-1234sk-12', 'sk-1234', '***'],
  // No secret at all: too short to be told from other text.
  ['abc', 'ab', 'abc'],
])('%s without %s: %s', (text, secret, shown) => {
  expect(withoutSecret(text, secret)).toBe(shown);
});
