import { describe, expect, test } from 'vitest';
import { QueueGauge } from './queue-gauge.ts';

const LIMIT = 100;

/** A gauge of a full queue that `perSecond` executions leave. */
function fullQueue(perSecond: number): QueueGauge {
  const gauge = new QueueGauge();
  gauge.setCount({ queued: LIMIT, arrived: null }, 0);
  gauge.setCount({ queued: LIMIT, arrived: perSecond }, 1_000);
  return gauge;
}

describe('the estimate', () => {
  test('is the last count, what is being stored and what was stored since the count was requested', () => {
    const gauge = new QueueGauge();
    gauge.enter(3);
    gauge.settle(2);
    gauge.countRequested();
    gauge.enter(4);
    gauge.settle(1);
    expect(gauge.estimate).toBe(7);
    // Includes the 2 that were stored before it was requested.
    gauge.setCount({ queued: 10, arrived: null }, 1_000);
    expect(gauge.estimate).toBe(10 + 1 + 4);
    expect(gauge.isInUse).toBe(true);
  });

  test('falls by what left the queue once it is counted', () => {
    const gauge = new QueueGauge();
    gauge.setCount({ queued: 50, arrived: null }, 0);
    gauge.setCount({ queued: 5, arrived: 0 }, 1_000);
    expect(gauge.estimate).toBe(5);
  });
});

describe('Retry-After', () => {
  test('is when there is room for the start and for all those that were refused before it', () => {
    const gauge = fullQueue(10);
    const waits = Array.from({ length: 40 }, () => gauge.refuse(1, LIMIT, 1_000));
    expect([waits[0], waits[9], waits[10], waits[39]]).toEqual([1, 1, 2, 4]);
    // Two seconds later, 20 of them had room.
    expect(gauge.refuse(1, LIMIT, 3_000)).toBe(3);
  });

  test('is never longer than all that waits takes to leave', () => {
    const gauge = fullQueue(10);
    const waits = Array.from({ length: 1_000 }, () => gauge.refuse(1, LIMIT, 1_000));
    expect(Math.max(...waits)).toBe(10);
    expect(gauge.refuse(1_000, LIMIT, 1_000)).toBe(10);
  });

  test('includes what is above the limit', () => {
    const gauge = fullQueue(10);
    gauge.enter(50);
    expect(gauge.refuse(1, LIMIT, 1_000)).toBe(6);
  });

  test('counts several starts at once', () => {
    expect(fullQueue(10).refuse(35, LIMIT, 1_000)).toBe(4);
  });

  test('follows the rate at which executions leave, whoever stored them', () => {
    const gauge = fullQueue(10);
    for (let second = 2; second < 60; second += 1)
      gauge.setCount({ queued: LIMIT, arrived: 1 }, second * 1_000);
    expect(gauge.refuse(5, LIMIT, 60_000)).toBe(5);
  });

  test('is half a minute while nothing leaves or that is unknown, and at most ten minutes', () => {
    expect(new QueueGauge().refuse(1, LIMIT, 0)).toBe(30);
    expect(fullQueue(0).refuse(1, LIMIT, 1_000)).toBe(30);
    const slow = new QueueGauge();
    slow.setCount({ queued: LIMIT, arrived: null }, 0);
    slow.setCount({ queued: LIMIT - 1, arrived: 0 }, 1_000_000);
    expect(slow.refuse(1, LIMIT, 1_000_000)).toBe(600);
  });
});
