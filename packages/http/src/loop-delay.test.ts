import { expect, test } from 'vitest';
import { LoopDelay } from './loop-delay.ts';

/** A loop whose measurements the test makes. */
function fakeLoop() {
  const state = { utilization: 0, mean: Number.NaN, isMeasuring: false };
  const delays = {
    get mean() {
      return state.mean;
    },
    enable: () => {
      state.isMeasuring = true;
    },
    disable: () => {
      state.isMeasuring = false;
    },
    reset: () => {
      state.mean = Number.NaN;
    },
  };
  const utilization = () => ({ idle: 0, active: 0, utilization: state.utilization });
  return { state, delay: new LoopDelay({ utilization, delays }) };
}

test('an idle loop is not measured: only a late look shows that it was blocked', () => {
  const { state, delay } = fakeLoop();
  state.utilization = 0.1;
  expect([delay.read(0, 500), delay.read(3, 503), delay.read(-1, 499)]).toEqual([0, 3, 0]);
  expect(state.isMeasuring).toBe(false);
  state.utilization = 1;
  expect(delay.read(2_500, 3_000)).toBe(2_500);
});

test('a busy loop is measured until it is idle again', () => {
  const { state, delay } = fakeLoop();
  state.utilization = 0.9;
  delay.read(0, 500);
  expect(state.isMeasuring).toBe(true);
  state.mean = 210e6;
  expect(delay.read(0, 500)).toBe(200);
  // Blocked for the whole time.
  expect(delay.read(700, 1_200)).toBe(1_200);
  state.utilization = 0.2;
  state.mean = 11e6;
  expect(delay.read(0, 500)).toBe(1);
  expect(state.isMeasuring).toBe(false);
});
