import { expect, it } from 'vitest';
import { chain, post } from './support/client.ts';
import { allFinished, readExecutions, timesRecorded } from './support/ledger.ts';
import { LONG_LEASE } from './support/service-process.ts';
import { until } from './support/until.ts';
import { useWorld } from './support/use-world.ts';

/** Calls that wait for their host at all are put off. */
const LIMIT = 2;
const world = useWorld({
  ...LONG_LEASE,
  MILLRACE_ORGANISATION_HOST_CALLS: String(LIMIT),
  MILLRACE_INLINE_WAIT_MS: '0',
});

const COUNT = 10;

it('calls that are put off survive the death of their worker: each is made once, and those under way are repeated under their key', async () => {
  const { db, receiver } = world();
  const client = world().client(await world().api());
  const workflow = await client.createWorkflow('limited host', chain(post('call', receiver.url('/host'))));
  const hold = receiver.hold('/host', LIMIT);
  const ids: number[] = [];
  for (let n = 0; n < COUNT; n++) ids.push(await client.accept(workflow, 'm'));
  const victim = await world().worker();
  const underWay = (await receiver.arrival('/host', LIMIT)).map(({ body }) => executionOf(body));
  // All others were put off, and come back and are put off again until the worker dies.
  await until('calls to be put off', async () => {
    const parked = (await readExecutions(db, workflow)).filter((row) => row.status === 'waiting_async');
    return parked.length > COUNT / 2;
  });
  await world().killForGood(victim);
  await world().worker();
  await receiver.arrival('/host', COUNT + LIMIT);
  hold.release();
  const ended = await allFinished(db, workflow);
  expect(ended.map(({ status, error }) => [status, error])).toEqual(ids.map(() => ['completed', null]));
  const calls = Map.groupBy(receiver.to('/host'), ({ body }) => executionOf(body));
  for (const id of ids) {
    const keys = (calls.get(id) ?? []).map(({ deliveryKey }) => deliveryKey);
    expect(keys, `calls of execution ${id}`).toHaveLength(underWay.includes(id) ? 2 : 1);
    expect(new Set(keys).size).toBe(1);
    expect(await timesRecorded(db, id, 'call')).toBe(1);
  }
  expect(new Set([...calls.values()].map(([call]) => call?.deliveryKey)).size).toBe(COUNT);
});

function executionOf(body: unknown): number {
  return Number((body as { execution: number }).execution);
}
