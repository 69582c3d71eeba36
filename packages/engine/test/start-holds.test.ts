import { describe, expect, it } from 'vitest';
import {
  admit,
  cellRateOf,
  debouncedUntil,
  dueAfter,
  parseTemplate,
  type RateState,
  releasable,
  startKeyOf,
} from '../src/index.ts';
import { randomFrom } from './support/random.ts';

const SECOND_US = 1_000_000;

/** A queue of one key, driven as the store drives it; remembers when each start was released. */
class Queue {
  state: RateState = { dueAtUs: 0, waiting: 0 };
  readonly released: { readonly id: number; readonly atUs: number }[] = [];
  readonly #waiting: number[] = [];
  #nextId = 0;
  readonly rate: ReturnType<typeof cellRateOf>;

  constructor(rate: ReturnType<typeof cellRateOf>) {
    this.rate = rate;
  }

  start(count: number, nowUs: number): void {
    const { direct } = admit(this.state, this.rate, nowUs, count, null);
    for (let place = 0; place < count; place++) {
      const id = this.#nextId++;
      if (place < direct) this.released.push({ id, atUs: nowUs });
      else this.#waiting.push(id);
    }
    this.state = {
      dueAtUs: dueAfter(this.state.dueAtUs, this.rate, nowUs, direct),
      waiting: this.#waiting.length,
    };
  }

  release(nowUs: number): void {
    const count = releasable(this.state, this.rate, nowUs);
    for (const id of this.#waiting.splice(0, count)) this.released.push({ id, atUs: nowUs });
    this.state = {
      dueAtUs: dueAfter(this.state.dueAtUs, this.rate, nowUs, count),
      waiting: this.#waiting.length,
    };
  }
}

/** The state after every start that became due was released at once. */
function served(
  from: RateState,
  rate: ReturnType<typeof cellRateOf>,
  nowUs: number,
  endUs: number,
): RateState {
  let state = from;
  for (;;) {
    const atUs = Math.max(state.dueAtUs, nowUs);
    if (atUs > endUs || state.waiting === 0) return state;
    const count = releasable(state, rate, atUs);
    state = { dueAtUs: dueAfter(state.dueAtUs, rate, atUs, count), waiting: state.waiting - count };
  }
}

/** The most that were released in any half-open period of this length. */
function mostIn(periodUs: number, times: readonly number[]): number {
  let first = 0;
  let most = 0;
  for (const [last, time] of times.entries()) {
    while ((times[first] ?? time) <= time - periodUs) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

describe('rate', () => {
  it.each(Array.from({ length: 200 }, (_, seed) => seed))(
    'H1 H2: never above the limit in any period, and in order (seed %i)',
    (seed) => {
      const random = randomFrom(seed);
      const limit = 1 + Math.floor(random() ** 3 * 500);
      const periodMs = 1_000 * (1 + Math.floor(random() ** 3 * 3_600));
      const rate = cellRateOf({ limit, periodMs });
      const queue = new Queue(rate);
      let nowUs = 1_000 * SECOND_US;
      for (let event = 0; event < 400; event++) {
        // Bursts, ticks that are late by a little, and now and then no worker for several periods.
        nowUs += Math.floor(random() ** 2 * rate.intervalUs * 3);
        if (random() < 0.02) nowUs += Math.floor(random() * 3 * periodMs * 1_000);
        if (random() < 0.4) queue.start(1 + Math.floor(random() ** 4 * 2 * limit), nowUs);
        else queue.release(nowUs);
      }
      const times = queue.released.map(({ atUs }) => atUs);
      expect(mostIn(periodMs * 1_000, times)).toBeLessThanOrEqual(limit);
      expect(queue.released.map(({ id }) => id)).toEqual(queue.released.map((_, place) => place));
    },
  );

  it('H1: a queue that is always served reaches 95 % of its limit', () => {
    for (const [limit, periodMs] of [
      [1, 1_000],
      [100, 1_000],
      [10, 60_000],
      [1_000, 60_000],
    ] as const) {
      const queue = new Queue(cellRateOf({ limit, periodMs }));
      queue.start(30 * limit, 0);
      // Late by up to 40 ms.
      for (let nowUs = 0; nowUs <= 20 * periodMs * 1_000; nowUs += 40_000) queue.release(nowUs);
      expect(queue.released.length).toBeGreaterThanOrEqual(Math.floor(20 * limit * 0.95));
    }
  });

  it.each(Array.from({ length: 50 }, (_, seed) => seed))(
    'H3 H4: a batch is what its starts would be one after the other (seed %i)',
    (seed) => {
      const random = randomFrom(seed);
      const rate = cellRateOf({ limit: 1 + Math.floor(random() * 50), periodMs: 10_000 });
      const nowUs = 100 * SECOND_US;
      const state = {
        dueAtUs: nowUs + Math.floor((random() - 0.5) * 4 * rate.intervalUs),
        waiting: random() < 0.5 ? 0 : Math.floor(random() * 20),
      };
      const count = 1 + Math.floor(random() * 30);
      const maxWaitUs = Math.floor(random() * 20 * rate.intervalUs);
      const together = admit(state, rate, nowUs, count, maxWaitUs);
      const single = { direct: 0, heldUntilUs: [] as number[], refusedForUs: [] as number[] };
      let each: RateState = state;
      for (let n = 0; n < count; n++) {
        const one = admit(each, rate, nowUs, 1, maxWaitUs);
        each = {
          dueAtUs: dueAfter(each.dueAtUs, rate, nowUs, one.direct),
          waiting: each.waiting + one.heldUntilUs.length,
        };
        single.direct += one.direct;
        single.heldUntilUs.push(...one.heldUntilUs);
        single.refusedForUs.push(...one.refusedForUs);
        for (const excessUs of one.refusedForUs) {
          const later = served(each, rate, nowUs, nowUs + excessUs);
          expect(admit(later, rate, nowUs + excessUs, 1, maxWaitUs).refusedForUs).toEqual([]);
        }
      }
      expect(together.direct).toBe(single.direct);
      expect(together.heldUntilUs).toEqual(single.heldUntilUs);
      expect(together.refusedForUs.length).toBe(single.refusedForUs.length);
    },
  );
});

describe('debounce', () => {
  it('H5: each start restarts the wait, up to the maximum after the first', () => {
    const wait = { waitMs: 10_000, maxWaitMs: 25_000 };
    expect(debouncedUntil(wait, 0, 0)).toBe(10 * SECOND_US);
    expect(debouncedUntil(wait, 0, 9 * SECOND_US)).toBe(19 * SECOND_US);
    expect(debouncedUntil(wait, 0, 18 * SECOND_US)).toBe(25 * SECOND_US);
    expect(debouncedUntil({ ...wait, maxWaitMs: null }, 0, 90 * SECOND_US)).toBe(100 * SECOND_US);
  });
});

describe('keys', () => {
  const plan = { vars: { region: 'eu' }, timezone: null };
  const keyOf = (text: string, triggerData: object = {}) => {
    const parsed = parseTemplate(text);
    if (!parsed.ok) throw new Error(text);
    return startKeyOf(parsed.template, plan, { executionId: 7, triggerData: triggerData as never });
  };

  it('H6: are rendered from the trigger, the constants and the id', () => {
    expect(keyOf('{{trigger.data.customer}}/{{vars.region}}', { customer: 12 })).toBe('12/eu');
    expect(keyOf('{{trigger.data.customer}}', { customer: 12 })).toBe(
      keyOf('{{trigger.data.customer}}', { customer: '12' }),
    );
    expect(keyOf('{{execution.id}}')).toBe('7');
    expect(keyOf('{{trigger.data.list}}', { list: [1, 'a'] })).toBe('[1,"a"]');
  });

  it('H6: without a template, or too large, a key is the empty one', () => {
    expect(startKeyOf(null, plan, { executionId: 7, triggerData: {} })).toBe('');
    expect(keyOf('x{{trigger.data.long}}', { long: 'y'.repeat(100_001) })).toBe('');
  });
});
