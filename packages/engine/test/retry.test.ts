import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { retryDelayMs } from '../src/index.ts';

const POLICY = { maxAttempts: 20, backoffMs: 1_000, maxBackoffMs: 10_000 };

describe('delay before the next attempt', () => {
  it('R2: the ceiling doubles with every failure up to its bound', () => {
    const almost = 0.999_999_999;
    expect([1, 2, 3, 4, 5, 19].map((failures) => retryDelayMs(POLICY, failures, almost, undefined))).toEqual([
      1_000, 2_000, 4_000, 8_000, 10_000, 10_000,
    ]);
    expect(retryDelayMs(POLICY, 5, 0, undefined)).toBe(0);
    expect(retryDelayMs(POLICY, 5, 0.25, undefined)).toBe(2_500);
  });

  it('R3: what the other side asks for is a lower bound, up to a day', () => {
    expect(retryDelayMs(POLICY, 1, 0.5, 20_000)).toBe(20_000);
    expect(retryDelayMs(POLICY, 1, 0.5, 100)).toBe(500);
    expect(retryDelayMs(POLICY, 1, 0.5, -5)).toBe(500);
    expect(retryDelayMs(POLICY, 1, 0.5, Infinity)).toBe(86_400_000);
  });

  it('R2 R3: it is always a whole number within its bounds', () => {
    fc.assert(
      fc.property(
        fc.record({ maxAttempts: fc.nat(), backoffMs: fc.nat(), maxBackoffMs: fc.nat() }),
        fc.integer({ min: 1, max: 10_000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.option(fc.nat(), { nil: undefined }),
        (policy, failures, jitter, retryAfterMs) => {
          const delay = retryDelayMs(policy, failures, jitter, retryAfterMs);
          const askedFor = Math.min(retryAfterMs ?? 0, 86_400_000);
          expect(Number.isInteger(delay)).toBe(true);
          expect(delay).toBeGreaterThanOrEqual(askedFor);
          expect(delay).toBeLessThanOrEqual(Math.max(askedFor, policy.maxBackoffMs));
        },
      ),
    );
  });
});
