import { performance } from 'node:perf_hooks';
import type { Lease } from '@millrace/engine';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LeaseKeeper } from './lease-keeper.ts';
import { hold } from './main-thread.ts';

/** Of executions that no other test has: whoever held the main thread is remembered by the process. */
let lastId = 900_000;
let nowMs = 0;
beforeEach(() => {
  nowMs = Math.max(nowMs, performance.now());
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  vi.spyOn(process, 'cpuUsage').mockReturnValue({ user: 2_000_000, system: 0 });
});
afterEach(() => void vi.restoreAllMocks());

/**
 * Loses a lease of a second after executions have held the main thread for so many milliseconds, one after the other.
 * @returns what those to blame had held it for
 */
async function blamedOf(...heldMs: readonly number[]): Promise<readonly (number | undefined)[]> {
  const held = new Map<number, number>();
  for (const ms of heldMs) {
    lastId += 1;
    held.set(lastId, ms);
  }
  const lines: string[] = [];
  const keeper = new LeaseKeeper({
    store: {
      registerWorker: async () => {},
      heartbeat: async () => false,
      inherit: async () => {},
      uncountCrashes: async () => {},
      retireWorker: async () => {},
    },
    leaseMs: 1_000,
    log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }),
    running: () => [...held.keys()].map((executionId): Lease => ({ executionId, workerId: 'one', claim: 1 })),
    onRegistered: async () => {},
    onLost: () => {},
  });
  await keeper.register();
  for (const [executionId, ms] of held) {
    hold({ executionId, nodeId: null }, () => {
      nowMs += ms;
    });
  }
  expect(await keeper.renew()).toBe(false);
  keeper.stopWatching();
  const { stalled_by: blamed } = JSON.parse(lines[0] ?? '') as { readonly stalled_by: readonly number[] };
  return blamed.map((id) => held.get(id));
}

it('executions that stalled a worker for a quarter of its lease are blamed for losing it, and no others', async () => {
  expect(await blamedOf(1_200, 240)).toEqual([1_200]);
  expect(await blamedOf(1_200, 900)).toEqual([1_200, 900]);
});

it('one that was held up for a moment of what another did is not blamed: the machine may have been busy', async () => {
  expect(await blamedOf(10_400, 300)).toEqual([10_400]);
});
