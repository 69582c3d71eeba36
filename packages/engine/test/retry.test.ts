import { verbatim } from '@millrace/messages';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { failure, putOff, retryDelayMs, success } from '../src/index.ts';
import { abbreviate, Drive, START_MS } from './support/drive.ts';
import { flowOf, planOf } from './support/index.ts';

const POLICY = { maxAttempts: 20, backoffMs: 1_000, maxBackoffMs: 10_000 };

describe('delay before the next attempt', () => {
  it('R2: the ceiling doubles with every failure up to its limit', () => {
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

describe('retry', () => {
  const retry = { max_attempts: 3, backoff_ms: 1_000, max_backoff_ms: 1_500 };
  const flaky = failure('flaky', verbatim('not yet'), { retryable: true });

  it('R1 R2 R4: retryable failures are retried, later each time', () => {
    const drive = new Drive(planOf(flowOf({ a: { type: 'test.effect', retry } }, ['t -> a'])));
    expect(abbreviate(drive.end('a', flaky, { jitter: 0.5 }))).toEqual(['checkpoint a:waiting', 'wait 1500']);
    expect(drive.stored().get('a')).toMatchObject({
      status: 'waiting',
      reason: 'retry',
      wakeAtMs: 1_500,
      error: { code: 'flaky', message: verbatim('not yet') },
      attempts: 1,
      failures: 1,
    });
    expect(abbreviate(drive.time(1_500)).slice(0, 2)).toEqual(['checkpoint a:running', 'start a']);
    expect(abbreviate(drive.end('a', flaky, { jitter: 0.5 }))).toEqual(['checkpoint a:waiting', 'wait 2250']);
    drive.time(2_250);
    expect(abbreviate(drive.end('a', flaky))).toEqual(['finish failed']);
    expect(drive.stored().get('a')).toMatchObject({ status: 'failed', attempts: 3, failures: 3 });
  });

  it('R7: an attempt that was put off is made later, and counts neither as an attempt nor as a failure', () => {
    const plan = planOf(flowOf({ a: { type: 'test.effect', retry } }, ['t -> a']));
    const drive = new Drive(plan);
    drive.end('a', failure('flaky', verbatim('not yet'), { retryable: true, output: { sent: 1 } }), {
      jitter: 0,
    });
    drive.time(START_MS);
    expect(abbreviate(drive.end('a', putOff('api.example:443', 20_000)))).toEqual(['park 20000']);
    const waiting = drive.stored().get('a');
    expect(waiting).toMatchObject({
      ...{ status: 'waiting', reason: 'host', host: 'api.example:443', wakeAtMs: 20_000 },
      ...{ attempts: 1, failures: 1, output: { sent: 1 } },
    });
    const next = new Drive(plan, {}, [...drive.stored().values()], 20_000);
    expect(abbreviate(next.effects).slice(0, 2)).toEqual(['checkpoint a:running', 'start a']);
    expect(next.lastStart('a')).toMatchObject({ attempt: 2, previousOutput: { sent: 1 } });
    expect(abbreviate(next.end('a', putOff('api.example:443', 1))).slice(0, 2)).toEqual([
      'checkpoint a:running',
      'start a',
    ]);
    expect(next.lastStart('a')).toMatchObject({ attempt: 2, previousOutput: { sent: 1 } });
    expect(abbreviate(next.end('a', success({ done: true })))).toEqual(['finish completed']);
    expect(next.stored().get('a')).toMatchObject({ status: 'success', attempts: 2, failures: 1 });
  });

  it('R1: other failures, and nodes without a policy, are not retried', () => {
    const once = new Drive(planOf(flowOf({ a: { retry } }, ['t -> a'])));
    expect(abbreviate(once.end('a', failure('broken', verbatim('x'))))).toEqual(['finish failed']);
    const none = new Drive(planOf(flowOf({ a: {} }, ['t -> a'])));
    expect(abbreviate(none.end('a', flaky))).toEqual(['finish failed']);
  });

  it('R3: the other side may ask for a longer delay, up to a day', () => {
    const drive = new Drive(planOf(flowOf({ a: { retry } }, ['t -> a'])));
    const asking = failure('busy', verbatim('x'), { retryable: true, retryAfterMs: 4_000 });
    expect(abbreviate(drive.end('a', asking))).toEqual(['wait 5000']);
    const far = new Drive(planOf(flowOf({ a: { retry } }, ['t -> a'])));
    const endlessly = failure('busy', verbatim('x'), { retryable: true, retryAfterMs: 1e15 });
    expect(abbreviate(far.end('a', endlessly))).toEqual([`park ${START_MS + 86_400_000}`]);
  });

  it('R6: the next attempt gets the output of the failed one, also after a crash', () => {
    const drive = new Drive(planOf(flowOf({ a: { type: 'test.effect', retry } }, ['t -> a'])));
    expect(drive.lastStart('a')).toMatchObject({ previousOutput: null });
    const kept = failure('flaky', verbatim('not yet'), { retryable: true, output: { step: 3 } });
    drive.end('a', kept, { jitter: 0 });
    expect(drive.lastStart('a')).toMatchObject({ attempt: 2, previousOutput: { step: 3 } });
    const later = new Drive(drive.state.plan, {}, drive.journal());
    expect(later.lastStart('a')).toMatchObject({ attempt: 3, previousOutput: { step: 3 } });
    later.end('a', flaky, { jitter: 0 });
    expect(later.lastStart('a')).toMatchObject({ attempt: 4, previousOutput: null });
  });

  it('R4: a long delay parks, and the count continues after resuming', () => {
    const plan = planOf(
      flowOf({ a: { type: 'test.effect', retry: { max_attempts: 2, backoff_ms: 60_000 } } }, ['t -> a']),
    );
    const drive = new Drive(plan);
    expect(abbreviate(drive.end('a', flaky, { jitter: 0.5 }))).toEqual(['park 31000']);
    const later = new Drive(plan, {}, [...drive.stored().values()], 31_000);
    expect(abbreviate(later.effects).slice(0, 2)).toEqual(['checkpoint a:running', 'start a']);
    expect(later.lastAttempt('a')).toBe(2);
    expect(abbreviate(later.end('a', flaky))).toEqual(['finish failed']);
  });
});
