import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { TestSpecification, Vitest } from 'vitest/node';
import LongestFirst from './longest-first.ts';
import slowTests from './slow-tests.json' with { type: 'json' };

const SLOW = Object.keys(slowTests);

it('starts with the slow files, slowest first, and keeps the order of the others', async () => {
  const [slowest = '', ...slow] = SLOW;
  const [a, b, last = ''] = ['packages/engine/test/b.test.ts', 'tools/a.test.ts', slow.at(-1)];
  const files = [a, last, b, slowest].map((path) => ({ moduleId: `/clone/${path}` }) as TestSpecification);
  const sorted = await new LongestFirst({ config: { root: '/clone' } } as Vitest).sort(files);
  expect(sorted.map(({ moduleId }) => moduleId)).toEqual(
    [slowest, last, a, b].map((path) => `/clone/${path}`),
  );
});

it('knows files that exist', () => {
  expect(SLOW.filter((path) => !existsSync(path))).toEqual([]);
});
