import type { ExecutionDetail } from '@millrace/admin-api';
import { expect, test } from 'vitest';
import { lanesAt, lanesOf, pan, placeOf, ticksOf, zoom } from './timeline-scale.ts';

const WHOLE = { fromMs: 1_000, toMs: 2_000 };
const BAR = { kind: 'run', isOpen: false, attempt: 1, count: 0, failed: 0 } as const;

test('zooming keeps the focused time in place, and ends at the whole range', () => {
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

test('a bar is cut at the edges, and omitted when out of view', () => {
  const part = { fromMs: 1_500, toMs: 1_600 };
  expect(placeOf({ ...BAR, fromMs: 1_400, toMs: 1_550 }, part)).toEqual({ left: 0, width: 50 });
  expect(placeOf({ ...BAR, fromMs: 1_000, toMs: 1_400 }, part)).toBeNull();
});

test('ticks count from the beginning, in round steps', () => {
  expect(ticksOf(WHOLE, 1_000, 4)).toEqual([0, 500, 1_000]);
  expect(ticksOf({ fromMs: 1_500, toMs: 1_600 }, 1_000, 4)).toEqual([500, 550, 600]);
  expect(ticksOf({ fromMs: 0, toMs: 100_000 }, 0, 4)).toEqual([0, 30_000, 60_000, 90_000]);
  expect(ticksOf({ fromMs: 0, toMs: 3 * 86_400_000 }, 0, 2)).toEqual([0, 2 * 86_400_000]);
});

const NODE = { status: 'success', attempts: 1, loop_id: null, iteration_spans: [], is_taken_over: false };
const RAN = { kind: 'run', attempt: 1, started_at: '2030-01-01T00:00:00Z' };

test('only lanes with something in progress change over time', () => {
  const nodes = [
    { ...NODE, node_id: 'a', spans: [{ ...RAN, ended_at: '2030-01-01T00:00:01Z' }] },
    { ...NODE, node_id: 'b', spans: [{ ...RAN, ended_at: null }] },
  ];
  const lanes = lanesOf({ nodes } as unknown as ExecutionDetail, new Map());
  const nowMs = Date.parse('2030-01-01T00:00:05Z');
  const later = lanesAt(lanes, nowMs);
  expect(later[0]).toBe(lanes[0]);
  expect(later[1]?.bars[0]).toMatchObject({ isOpen: true, toMs: nowMs });
});

test('the only known run of a node in a loop shows its failure', () => {
  const error = { code: 'x', message: 'no' };
  const ran = { started_at: RAN.started_at, completed_at: RAN.started_at, error };
  const node = { ...NODE, ...ran, node_id: 'a', status: 'failed', spans: [] };
  const [lane] = lanesOf({ nodes: [node] } as unknown as ExecutionDetail, new Map());
  expect(lane?.bars).toMatchObject([{ kind: 'run', error }]);
});
