import { describe, expect, test } from 'vitest';
import { Pressure } from './pressure.ts';

const LIMITS = { loopDelayMs: 1_000, poolWaitMs: 500 };
const CALM = { loopDelayMs: 0, poolWaitMs: 0 };

/** A pressure whose samples are half a second apart, and what it says of each. */
function sampled(limits = LIMITS) {
  const pressure = new Pressure(limits);
  let now = 0;
  const note = (sample: Partial<typeof LIMITS>) => {
    now += 500;
    const change = pressure.note({ ...CALM, ...sample }, now);
    return change === null ? null : 'began' in change ? 'began' : 'ended';
  };
  return { pressure, note, now: () => now };
}

describe('an overload', () => {
  test.each([{ loopDelayMs: 1_001 }, { poolWaitMs: 501 }])('begins once %o has lasted a second', (over) => {
    const { note, pressure } = sampled();
    expect([over, over].map(note)).toEqual([null, null]);
    expect(pressure.episode).toBeNull();
    expect(note(over)).toBe('began');
    expect(note(over)).toBeNull();
    expect(pressure.episode).not.toBeNull();
  });

  test('is no single pause', () => {
    const { note } = sampled();
    const pause = { loopDelayMs: 60_000 };
    expect([pause, CALM, pause, pause, CALM, pause, CALM].map(note)).toEqual(Array(7).fill(null));
  });

  test('ends after two seconds below half of the limits', () => {
    const { note } = sampled();
    const over = { poolWaitMs: 501 };
    const between = { poolWaitMs: 251 };
    const quiet = { poolWaitMs: 250 };
    expect([over, over, over].map(note).at(-1)).toBe('began');
    expect([between, quiet, quiet, quiet, between, quiet, quiet, quiet, quiet].map(note)).toEqual(
      Array(9).fill(null),
    );
    expect(note(quiet)).toBe('ended');
  });

  test('counts what it refuses, and asks for more patience the longer it lasts', () => {
    const { pressure, note, now } = sampled();
    for (let index = 0; index < 3; index += 1) note({ poolWaitMs: 501 });
    const { episode } = pressure;
    if (episode === null) throw new Error('it has not begun');
    const waits = [0, 5_000, 600_000].map((ms) => pressure.refuse(episode, now() + ms));
    expect(waits).toEqual([2, 5, 30]);
    expect(episode.refused).toBe(3);
  });

  test('never begins with limits of 0', () => {
    const { note } = sampled({ loopDelayMs: 0, poolWaitMs: 0 });
    const over = { loopDelayMs: 60_000, poolWaitMs: 60_000 };
    expect([over, over, over, over].map(note)).toEqual(Array(4).fill(null));
  });
});
