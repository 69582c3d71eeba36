import { ApiError } from '@millrace/errors/errors';
import { expect, test } from 'vitest';
import { createAttemptLimit } from './attempt-limit.ts';

/** Seconds to wait; null if the attempt is allowed. */
function waitOf(attempt: () => unknown): number | null {
  try {
    attempt();
    return null;
  } catch (error) {
    return error instanceof ApiError ? Number(error.headers['retry-after']) : Number.NaN;
  }
}

test("the window slides, refused attempts don't count, and each name is counted separately", () => {
  let now = 0;
  const limit = createAttemptLimit(2, 60_000, () => now);
  expect(waitOf(() => limit.begin('ada'))).toBeNull();
  now = 20_000;
  expect(waitOf(() => limit.begin('ada'))).toBeNull();
  for (let index = 0; index < 100; index += 1) expect(waitOf(() => limit.begin('ada'))).toBe(40);
  expect(waitOf(() => limit.begin('bea'))).toBeNull();
  now = 60_000;
  expect(waitOf(() => limit.begin('ada'))).toBeNull();
  expect(waitOf(() => limit.begin('ada'))).toBe(20);
});

test("an attempt that is taken back doesn't count", () => {
  const limit = createAttemptLimit(1, 60_000, () => 0);
  for (let index = 0; index < 3; index += 1) {
    const takeBack = limit.begin('ada');
    expect(waitOf(() => limit.begin('ada'))).toBe(60);
    takeBack();
  }
});

test('an attacker with many names can neither exhaust memory nor reset counters', () => {
  let now = 0;
  const limit = createAttemptLimit(1, 60_000, () => now);
  limit.begin('first');
  for (let index = 1; index < 50_000; index += 1) limit.begin(`name ${index}`);
  expect(waitOf(() => limit.begin('one more'))).toBe(60);
  expect(waitOf(() => limit.begin('first'))).toBe(60);
  now = 60_000;
  expect(waitOf(() => limit.begin('one more'))).toBeNull();
  expect(waitOf(() => limit.begin('first'))).toBeNull();
});
