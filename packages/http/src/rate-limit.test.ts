import { describe, expect, test } from 'vitest';
import { createRateLimiter, sourceOf } from './rate-limit.ts';

function withClock(limit: number) {
  let now = 1_000;
  const limiter = createRateLimiter(limit, () => now);
  return {
    take: (caller = 'a', count = 1) => limiter.take(caller, { count }),
    forget: (caller: string) => limiter.forget(caller),
    passSeconds: (seconds: number) => {
      now += seconds * 1_000;
    },
  };
}

describe('createRateLimiter', () => {
  test('counts down and refuses requests over the limit, separately for each caller', () => {
    const { take } = withClock(2);
    expect(take()).toEqual({ allowed: true, limit: 2, remaining: 1, resetSeconds: 60 });
    expect(take()).toMatchObject({ allowed: true, remaining: 0 });
    expect(take()).toMatchObject({ allowed: false, remaining: 0 });
    expect(take('b')).toMatchObject({ allowed: true });
  });

  test('accepts a request after the announced wait, and not a second earlier', () => {
    for (const pauses of [[], [30], [59, 40], [1, 61, 5]]) {
      const { take, passSeconds } = withClock(4);
      for (const pause of pauses) {
        take();
        take();
        passSeconds(pause);
      }
      let refusal = take();
      while (refusal?.allowed) refusal = take();
      const wait = refusal?.resetSeconds ?? 0;
      expect(wait).toBeGreaterThan(0);
      passSeconds(wait - 1.001);
      expect([pauses, take()?.allowed]).toEqual([pauses, false]);
      passSeconds(1.001);
      expect([pauses, take()?.allowed]).toEqual([pauses, true]);
    }
  });

  test("twice the limit doesn't get through at the edge of two windows", () => {
    const { take, passSeconds } = withClock(100);
    for (let count = 0; count < 100; count += 1) take();
    passSeconds(61);
    let accepted = 0;
    while (take()?.allowed) accepted += 1;
    expect(accepted).toBeLessThan(5);
  });

  test('resets completely after two idle windows', () => {
    const { take, passSeconds } = withClock(3);
    for (let count = 0; count < 3; count += 1) take();
    passSeconds(120);
    expect(take()).toMatchObject({ allowed: true, remaining: 2 });
  });

  test('several requests are counted together, or not at all, and fit after the announced wait', () => {
    for (const pauses of [[], [30], [61]]) {
      const { take, passSeconds } = withClock(10);
      for (const pause of pauses) {
        take('a', 4);
        passSeconds(pause);
      }
      let refusal = take('a', 4);
      while (refusal?.allowed) refusal = take('a', 4);
      const wait = refusal?.resetSeconds ?? 0;
      passSeconds(wait - 1.001);
      expect([pauses, take('a', 4)?.allowed]).toEqual([pauses, false]);
      passSeconds(1.001);
      expect([pauses, take('a', 4)?.allowed]).toEqual([pauses, true]);
    }
  });

  test('more than the limit are accepted when none was counted before, and use all of it', () => {
    const { take, passSeconds } = withClock(10);
    expect(take('a', 1_000)).toMatchObject({ allowed: true, remaining: 0 });
    expect(take()).toMatchObject({ allowed: false });
    passSeconds(119);
    expect(take('a', 1_000)?.allowed).toBe(false);
    passSeconds(1);
    expect(take('a', 1_000)?.allowed).toBe(true);
  });

  test('0 turns it off', () => {
    expect(withClock(0).take()).toBeNull();
  });

  test('a caller with many names can neither exhaust memory nor reset counters', () => {
    const { take, passSeconds, forget } = withClock(1);
    take('first');
    for (let count = 0; count < 49_999; count += 1) take(`caller ${count}`);
    expect(take('one more')).toEqual({ allowed: false, limit: 1, remaining: 0, resetSeconds: 60 });
    expect(take('first')?.allowed).toBe(false);
    forget('caller 7');
    expect(take('one more')?.allowed).toBe(true);
    expect(take('and another')?.allowed).toBe(false);
    // The minute before the previous one no longer counts.
    passSeconds(120);
    expect(take('and another')?.allowed).toBe(true);
    expect(take('first')?.allowed).toBe(true);
  });
});

describe('sourceOf', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '::ffff:203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
  ])('%s counts as %s', (ip, source) => {
    expect(sourceOf(ip)).toBe(source);
  });
});
