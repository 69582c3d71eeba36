import { expect, test } from 'vitest';
import { pan, placeOf, ticksOf, zoom } from './timeline-scale.ts';

const WHOLE = { fromMs: 1_000, toMs: 2_000 };
const BAR = { kind: 'run', isOpen: false, attempt: 1, count: 0, failed: 0 } as const;

test('zooming keeps what is looked at in its place, and ends at all there is', () => {
  const half = zoom(WHOLE, WHOLE, 0.5, 1_500);
  expect(half).toEqual({ fromMs: 1_250, toMs: 1_750 });
  expect(zoom(WHOLE, WHOLE, 0.5, 1_000)).toEqual({ fromMs: 1_000, toMs: 1_500 });
  expect(zoom(half ?? WHOLE, WHOLE, 4, 1_500)).toBeNull();
});

test('moving stops at the ends', () => {
  const part = { fromMs: 1_100, toMs: 1_200 };
  expect(pan(part, WHOLE, 0.5)).toEqual({ fromMs: 1_150, toMs: 1_250 });
  expect(pan(part, WHOLE, -5)).toEqual({ fromMs: 1_000, toMs: 1_100 });
  expect(pan(part, WHOLE, 50)).toEqual({ fromMs: 1_900, toMs: 2_000 });
});

test('a bar is cut at the edges, and left out when nothing of it is in sight', () => {
  const part = { fromMs: 1_500, toMs: 1_600 };
  expect(placeOf({ ...BAR, fromMs: 1_400, toMs: 1_550 }, part)).toEqual({ left: 0, width: 50 });
  expect(placeOf({ ...BAR, fromMs: 1_000, toMs: 1_400 }, part)).toBeNull();
});

test('ticks count from the beginning of all, in round steps', () => {
  expect(ticksOf(WHOLE, 1_000, 4)).toEqual([0, 500, 1_000]);
  expect(ticksOf({ fromMs: 1_500, toMs: 1_600 }, 1_000, 4)).toEqual([500, 550, 600]);
});
