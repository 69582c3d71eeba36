import { expect, it } from 'vitest';
import { slowestFiles } from './slowest-files.ts';

it('lists the slowest files, slowest first', () => {
  const times = [
    { path: 'a.test.ts', ms: 950 },
    { path: 'b.test.ts', ms: 12_340 },
    { path: 'c.test.ts', ms: 20 },
  ];
  expect(slowestFiles(times, 2)).toEqual([
    'Slowest test files (2 of 3), in seconds:',
    '  12.3  b.test.ts',
    '   0.9  a.test.ts',
  ]);
});

it('lists 20 by default, and none if nothing ran', () => {
  const times = Array.from({ length: 30 }, (_, index) => ({ path: `${index}.test.ts`, ms: index }));
  expect(slowestFiles(times)).toHaveLength(21);
  expect(slowestFiles([])).toEqual([]);
});
