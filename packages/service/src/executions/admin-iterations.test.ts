import type { NodeRecord } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { expect, test } from 'vitest';
import { readIterations, readRecord } from './admin-iterations.ts';
import type { JournalEntry } from './admin-journal.ts';

async function* stored(...records: object[]): AsyncGenerator<JournalEntry> {
  for (const record of records) {
    const times = { startedAtMs: 10, completedAtMs: 20, attempts: 1, consumedAiTokens: 0 };
    yield { atMs: 0, records: [{ ...times, ...record } as NodeRecord] };
  }
}

const inside = (loopId: string, ...iteration: number[]) => ({ iteration, loopId });
const nap = (...iteration: number[]) => ({
  nodeId: 'nap',
  status: 'success',
  output: {},
  ...inside('loop', ...iteration),
});
const ended = (index: number) => ({
  ...{
    nodeId: 'loop',
    status: 'iteration_ended',
    iteration: [index],
    loopId: 'loop',
    output: `round ${index}`,
  },
});

test('the iteration that ends a repetition has succeeded, although only the loop says so', async () => {
  const output = { iterations: 2, last: 'round 1', done: true };
  const journal = () => stored(nap(0), ended(0), nap(1), { nodeId: 'loop', status: 'success', output });
  expect(await readIterations(journal(), 'loop')).toMatchObject([
    { status: 'iteration_ended', iteration: [0], output: 'round 0' },
    { status: 'iteration_ended', iteration: [1], output: 'round 1' },
  ]);
  expect(await readRecord(journal(), 'loop', [1])).toMatchObject({ output: 'round 1' });
  expect(await readRecord(journal(), 'loop', null)).toMatchObject({ output });
});

test('the one that made it fail has failed', async () => {
  const said = verbatim('no answer');
  const error = {
    ...{ code: 'x', message: said },
    origin: { iteration: [1], nodeId: 'nap', label: 'Ask "it"' },
  };
  const journal = stored(nap(0), ended(0), nap(1), { nodeId: 'loop', status: 'failed', error });
  expect((await readIterations(journal, 'loop')).at(-1)).toMatchObject({
    status: 'iteration_ended',
    error: { code: 'x', message: said },
  });
});

test('the record that represents all runs in an inner loop is not listed beside them', async () => {
  const run = (...iteration: number[]) => ({ ...nap(...iteration), loopId: 'inner' });
  const summary = (index: number) => ({ ...nap(index), iterations: 2 });
  const places = async (...records: object[]) =>
    (await readIterations(stored(...records), 'nap')).map(({ iteration }) => iteration?.join());
  expect(await places(run(0, 0), run(0, 1), summary(0), run(1, 0), summary(1))).toEqual([
    '0,0',
    '0,1',
    '1,0',
  ]);
  // Without them only the summary is left.
  expect(await places(summary(0), summary(1))).toEqual(['0', '1']);
});
