import { performance } from 'node:perf_hooks';
import { pino } from 'pino';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { handOver, hold, onStall, type Stall, stalledSince } from './main-thread.ts';
import { stallReporter } from './stall-report.ts';

/** The replaced clock; it goes on from test to test, as the register does. */
let nowMs = 1e9;
vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
const compute = (ms: number): void => {
  nowMs += ms;
};

let begin = 0;
beforeEach(() => {
  nowMs += 1e6;
  begin = nowMs;
});

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the register of who holds the main thread', () => {
  it('tells who held it for more than 50 ms, and for how long', () => {
    const seen: Stall[] = [];
    const end = onStall((stall) => seen.push(stall));
    expect(hold({ executionId: 1, nodeId: 'a' }, () => 'result')).toBe('result');
    hold({ executionId: 1, nodeId: 'a' }, () => compute(50));
    hold({ executionId: 2, nodeId: null }, () => compute(51));
    expect(() =>
      hold({ executionId: 3, nodeId: 'c' }, () => {
        compute(70);
        throw new Error('node failed');
      }),
    ).toThrow('node failed');
    end();
    hold({ executionId: 4, nodeId: 'd' }, () => compute(90));
    expect(seen.map(({ executionId, nodeId, ms }) => [executionId, nodeId, ms])).toEqual([
      [2, null, 51],
      [3, 'c', 70],
    ]);
    expect([...stalledSince(begin)]).toEqual([
      [2, 51],
      [3, 70],
      [4, 90],
    ]);
    expect([...stalledSince(nowMs)]).toEqual([]);
  });

  it('counts only the part of a stall since the given time, and what is inside another section as its own', () => {
    hold({ executionId: 1, nodeId: 'a' }, () => {
      hold({ executionId: 2, nodeId: 'b' }, () => compute(100));
      compute(100);
    });
    expect([...stalledSince(nowMs - 150)]).toEqual([[1, 150]]);
  });

  it('takes what follows a response for the continuation of its node, except what others do', async () => {
    handOver({ executionId: 5, nodeId: 'call' });
    compute(200);
    hold({ executionId: 6, nodeId: 'other' }, () => compute(300));
    // Before the turn has ended, as a timer would ask.
    expect(new Map(stalledSince(begin))).toEqual(
      new Map([
        [6, 300],
        [5, 200],
      ]),
    );
    await nextTurn();
    expect(new Map(stalledSince(begin))).toEqual(
      new Map([
        [6, 300],
        [5, 200],
      ]),
    );
  });
});

it('at most one line a second tells who it was, and how many were left out', () => {
  const lines: string[] = [];
  const report = stallReporter(
    pino({ base: null, timestamp: false }, { write: (line) => void lines.push(line) }),
  );
  for (const endedAt of [0, 400, 999, 1_000]) report({ executionId: 7, nodeId: 'slow', ms: 60.4, endedAt });
  report({ executionId: 8, nodeId: null, ms: 90, endedAt: 2_500 });
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { execution_id: 7, node_id: 'slow', ms: 60, left_out: 0 },
    { execution_id: 7, node_id: 'slow', ms: 60, left_out: 2 },
    { execution_id: 8, ms: 90, left_out: 0 },
  ]);
});
