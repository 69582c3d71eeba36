import { expect, it } from 'vitest';
import type { TestSpecification, Vitest } from 'vitest/node';
import LongestFirst from './longest-first.ts';

function specification(path: string): TestSpecification {
  const config = { sequence: { groupOrder: 0 }, isolate: false };
  return { moduleId: `/checkout/${path}`, project: { name: '', config } } as unknown as TestSpecification;
}

async function sorted(
  paths: readonly string[],
  durations: { readonly [path: string]: number },
): Promise<string[]> {
  const cache = {
    getTestSpecificationResult: ({ moduleId }: TestSpecification) => {
      const duration = durations[moduleId.replace('/checkout/', '')];
      return duration === undefined ? undefined : { duration, failed: false };
    },
  };
  const files = await new LongestFirst({ cache } as unknown as Vitest).sort(paths.map(specification));
  return files.map(({ moduleId }) => moduleId.replace('/checkout/', ''));
}

const PATHS = ['packages/engine/test/a.test.ts', 'packages/cli/test/b.test.ts', 'packages/web/e2e/c.test.ts'];

it('begins with what starts processes where nothing is recorded', async () => {
  expect(await sorted(PATHS, {})).toEqual([PATHS[1], PATHS[2], PATHS[0]]);
});

it('begins with what took longest where everything is recorded', async () => {
  const [first = '', second = '', third = ''] = PATHS;
  expect(await sorted(PATHS, { [first]: 20, [second]: 10, [third]: 30 })).toEqual([third, first, second]);
});
