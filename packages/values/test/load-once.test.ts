import { expect, test } from 'vitest';
import { loadOnce } from '../src/load-once.ts';

test('loads with the first call, and once for all of them', async () => {
  let loads = 0;
  const load = loadOnce(async () => {
    loads += 1;
    return { loads };
  });
  expect(loads).toBe(0);
  const [first, second] = await Promise.all([load(), load()]);
  expect(second).toBe(first);
  expect(await load()).toBe(first);
  expect(loads).toBe(1);
});

test('tries again after a failure, which all who waited see', async () => {
  let loads = 0;
  const load = loadOnce(async () => {
    loads += 1;
    if (loads === 1) throw new Error('not now');
    return loads;
  });
  const both = await Promise.allSettled([load(), load()]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await load()).toBe(2);
  expect(await load()).toBe(2);
});
