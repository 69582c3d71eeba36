import { success } from '@millrace/engine';
import { describe, expect, test } from 'vitest';
import { Busiest } from './busiest.ts';
import { CountsByName, OTHER } from './counts-by-name.ts';
import { Histogram } from './histogram.ts';
import { Meters } from './meters.ts';

const MINUTE_MS = 60_000;

describe('Histogram', () => {
  test('counts each observation in its bucket, those on a bound below it', () => {
    const histogram = new Histogram([1, 5]);
    for (const value of [0.5, 1, 1.1, 5, 7]) histogram.observe(value);
    expect(histogram.cumulative()).toEqual([2, 4, 5]);
    expect(histogram.sum).toBeCloseTo(14.6);
  });
});

describe('CountsByName', () => {
  test('counts everything beyond the limit together', () => {
    const counts = new CountsByName(2);
    for (const name of ['a', 'b', 'c', 'd', 'a']) counts.add(name);
    expect(counts.entries()).toEqual([
      ['a', 2],
      ['b', 1],
      [OTHER, 2],
    ]);
  });

  test.each(['a secret', 'Müller', 'x'.repeat(65), '', 'a"b', 'a\nb'])(
    'does not show %j as a name',
    (name) => {
      const counts = new CountsByName(10);
      counts.add(name);
      expect(counts.entries()).toEqual([[OTHER, 1]]);
    },
  );
});

describe('Busiest', () => {
  const counter = () => ({ count: 0 });
  const total = (busiest: Busiest<{ count: number }>): number =>
    busiest.entries().reduce((sum, [, { count }]) => sum + count, busiest.rest.count);

  test('gives places to the first, and all others share one meter', () => {
    const busiest = new Busiest(2, counter);
    for (const key of [1, 2, 3, 4, 1]) busiest.use(key).count += 1;
    expect(busiest.entries()).toEqual([
      [1, { count: 2 }],
      [2, { count: 1 }],
    ]);
    expect(busiest.rest).toEqual({ count: 2 });
  });

  test('gives the place of the least busy to a key that is clearly busier, which starts from zero', () => {
    const busiest = new Busiest(2, counter);
    for (const key of [1, 1, 2, ...Array<number>(10).fill(3)]) busiest.use(key).count += 1;
    busiest.rearrange();
    busiest.use(3).count += 1;
    expect(busiest.entries()).toEqual([
      [1, { count: 2 }],
      [3, { count: 1 }],
    ]);
    expect(busiest.rest).toEqual({ count: 10 });
  });

  test('leaves places alone when a key is hardly busier', () => {
    const busiest = new Busiest(1, counter);
    for (const key of [1, 1, 1, 2, 2, 2, 2]) busiest.use(key);
    busiest.rearrange();
    expect(busiest.entries().map(([key]) => key)).toEqual([1]);
  });

  test('without places, counts everything together', () => {
    const busiest = new Busiest(0, counter);
    busiest.use(1).count += 1;
    busiest.rearrange();
    expect(busiest.entries()).toEqual([]);
    expect(total(busiest)).toBe(1);
  });

  test('finds the busy ones among 100,000 keys, and keeps little of the others', () => {
    const busiest = new Busiest(20, counter);
    for (let key = 1; key <= 100_000; key += 1) {
      busiest.use(key).count += 1;
      // Twenty keys that are used all the time.
      busiest.use(-(key % 20) - 1).count += 1;
      if (key % 1_000 === 0) busiest.rearrange();
    }
    expect(
      busiest
        .entries()
        .map(([key]) => key)
        .sort((a, b) => b - a),
    ).toEqual(Array.from({ length: 20 }, (_, index) => -index - 1));
  });
});

describe('Meters', () => {
  const place = (organisationId: number) => ({ organisationId, workflowId: organisationId });

  test('count ends in total, by code, by organisation and by workflow', () => {
    const meters = new Meters();
    meters.executionEnded(place(1), null, 0.2);
    meters.executionEnded(place(1), 'node_timeout', 3);
    expect(meters.completed).toBe(1);
    expect(meters.failed.entries()).toContainEqual(['node_timeout', 1]);
    expect(meters.organisations.entries()).toEqual([
      [1, { accepted: 0, completed: 1, failed: 1, aiTokens: 0 }],
    ]);
    expect(meters.workflows.entries()[0]?.[1].cumulative().at(-1)).toBe(2);
  });

  test('count only the tokens that a node consumed itself', () => {
    const meters = new Meters();
    const result = { ...success({}), consumedAiTokens: 30, childAiTokens: 20 };
    meters.nodeEnded('ai.agent', 1, result, 1);
    expect(meters.aiTokens).toBe(10);
  });

  test('look for the busiest at most once a minute', () => {
    const meters = new Meters(1);
    meters.startsAccepted('api', 1);
    meters.startsAccepted('api', 2, 1_000);
    for (let use = 0; use < 10; use += 1) meters.startsAccepted('api', 2);
    meters.rearrange(MINUTE_MS - 1);
    expect(meters.organisations.entries().map(([id]) => id)).toEqual([1]);
    meters.rearrange(MINUTE_MS);
    expect(meters.organisations.entries().map(([id]) => id)).toEqual([2]);
  });
});
