import type { NodeRecord } from '@millrace/engine';
import { expect, test } from 'vitest';
import { type JournalEntry, mergeIterations, readNodes } from './admin-journal.ts';

test('thousands of iterations are merged into as many pieces as can be shown, and none is lost', () => {
  const ended = Array.from({ length: 5_000 }, (_, index) => ({
    startedAtMs: index * 10,
    completedAtMs: index * 10 + 25,
    count: 1,
    failed: index === 4_321 ? 1 : 0,
  }));
  const merged = mergeIterations(ended.toReversed(), 200);
  expect(merged.length).toBeLessThanOrEqual(200);
  expect(merged.reduce((sum, { count }) => sum + count, 0)).toBe(5_000);
  expect(merged.filter(({ failed }) => failed > 0)).toHaveLength(1);
  expect([merged[0]?.startedAtMs, merged.at(-1)?.completedAtMs]).toEqual([0, 50_015]);
  expect(mergeIterations(ended.slice(0, 3), 200)).toEqual(ended.slice(0, 3));
});

test('a node belongs to the loop it is in, also when another iteration of the loop around that one skipped it', async () => {
  async function* journal(): AsyncGenerator<JournalEntry> {
    const times = { startedAtMs: 10, completedAtMs: 20, attempts: 1, consumedAiTokens: 0 };
    const ran = { nodeId: 'a', status: 'running', iteration: [0, 0], loopId: 'inner', ...times };
    const skipped = {
      nodeId: 'a',
      status: 'skipped',
      iteration: [1],
      loopId: 'outer',
      iterations: 0,
      ...times,
    };
    yield { atMs: 0, records: [ran, skipped] as NodeRecord[] };
  }
  expect((await readNodes(journal())).nodes.get('a')).toMatchObject({ loopId: 'inner' });
});
