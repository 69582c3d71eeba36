import { expect, test } from 'vitest';
import { findJsonPlace } from './json-place.ts';

test.each([
  ['{\n  "nodes": [,]\n}', 2, 13],
  ['{"nodes": [', 1, 12],
  ['{"nodes": [],}', 1, 14],
  ['{"nodes": "a\nb"}', 1, 13],
  ['{"nodes": 01}', 1, 12],
  ["{'nodes': []}", 1, 2],
  ['{"nodes": []} x', 1, 15],
])('says where %j is invalid', (text, line, column) => {
  expect(findJsonPlace(text)).toEqual({ line, column });
});

test('finds the mistake in any invalid JSON, at or before where a reader notices', () => {
  const json = JSON.stringify({ a: [1, -2.5e3, null, true, 'x"\\é'], b: {} });
  for (let at = 1; at < json.length; at += 1) {
    expect(findJsonPlace(json.slice(0, at))).toMatchObject({ line: 1 });
  }
});
