import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { chain, post } from './support/client.ts';
import { allFinished } from './support/ledger.ts';
import { LONG_LEASE } from './support/service-process.ts';
import { useWorld } from './support/use-world.ts';

const HEAP_MIB = 256;
const COUNT = 150;
/** What one answer takes once it is parsed is more than twice its text, so all of them need more than the heap. */
const ANSWER_BYTES = 900_000;
const PATIENT_MS = 240_000;

// All of them call the same host at the same time.
const world = useWorld({ MILLRACE_HOST_CALLS: '0', MILLRACE_ORGANISATION_HOST_CALLS: '0' });

it('a worker with a small heap completes executions whose data together needs more, and lives', async () => {
  const { db, receiver } = world();
  const rows = Array.from({ length: ANSWER_BYTES / 90 }, (_, id) => ({
    id,
    name: `Customer ${id}`,
    email: `customer${id}@example.com`,
    tags: ['new', 'paid'],
  }));
  const body = JSON.stringify(rows);
  receiver.on('/rows', () => ({ status: 200, body }));
  // Each holds its answer for a while.
  receiver.on('/next', async () => {
    await pause(100);
    return 200;
  });
  const read = {
    id: 'read',
    type: 'http.request',
    config: { url: receiver.url('/rows'), timeout_ms: PATIENT_MS },
  };
  const client = world().client(await world().api());
  const flow = chain(read, post('next', receiver.url('/next')));
  const workflow = await client.createWorkflow('large answers', flow);
  const items = Array.from({ length: COUNT }, (_, n) => ({ key: null, input: { marker: String(n) } }));
  const answers = await client.startBatch(workflow, items);
  expect(answers.every(({ kind }) => kind === 'accepted')).toBe(true);
  const worker = await world().worker({
    ...LONG_LEASE,
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
    MILLRACE_WORKER_CONCURRENCY: String(COUNT),
    MILLRACE_ORGANISATION_SLOTS_PERCENT: '100',
  });
  const ended = await Promise.race([allFinished(db, workflow), worker.ended()]);
  expect(worker.isRunning).toBe(true);
  const rowsOf = Array.isArray(ended) ? ended : [];
  expect(rowsOf.map(({ status, crashed_attempts: crashes }) => [status, crashes])).toEqual(
    items.map(() => ['completed', 0]),
  );
});
