import { expect, test } from 'vitest';
import { Slots } from './slots.ts';

const HEAVY = 1;
const LIGHT = 2;
const CAPPED = 3;

test('S21: starts without a claim are given slots by weight and cap, as claims are', () => {
  const slots = new Slots({ concurrency: 40, organisationPercent: 50 });
  slots.setOwnShares(
    new Map([
      [HEAVY, { weight: 4, capPercent: 100 }],
      [CAPPED, { weight: 4, capPercent: 10 }],
    ]),
  );
  const held = new Map<number, number>();
  for (let round = 0; round < 40; round += 1) {
    for (const id of [HEAVY, HEAVY, HEAVY, HEAVY, LIGHT, CAPPED]) {
      if (!slots.mayHoldAnother(id)) continue;
      slots.acquire(id);
      held.set(id, (held.get(id) ?? 0) + 1);
    }
  }
  expect(Object.fromEntries(held)).toEqual({ [HEAVY]: 24, [LIGHT]: 6, [CAPPED]: 4 });
  expect([...slots.atShare()]).toEqual([HEAVY, LIGHT, CAPPED]);
  slots.setOwnShares(new Map());
  expect([...slots.atShare()]).toEqual([HEAVY, LIGHT]);
});

test('S21: a cap never keeps an organisation from its first slot', () => {
  const slots = new Slots({ concurrency: 4, organisationPercent: 75 });
  slots.setOwnShares(new Map([[CAPPED, { weight: 1, capPercent: 1 }]]));
  expect(slots.mayHoldAnother(CAPPED)).toBe(true);
  slots.acquire(CAPPED);
  expect(slots.mayHoldAnother(CAPPED)).toBe(false);
});
