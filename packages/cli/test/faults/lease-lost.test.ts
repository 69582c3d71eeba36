import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { chain, post, set } from './support/client.ts';
import { finished, readExecution } from './support/ledger.ts';
import { LONG_LEASE, type ServiceProcess } from './support/service-process.ts';
import { until } from './support/until.ts';
import { useWorld } from './support/use-world.ts';
import { warmUp } from './support/warm-up.ts';

const world = useWorld();

/** So short that it ends soon when the worker is stopped or computes. */
const SHORT_LEASE = { MILLRACE_LEASE_MS: '1000', MILLRACE_HEARTBEAT_MS: '200' };

/** The command whose node the module below can change: a bundle has nodes of its own. */
const SOURCES = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
/** Gives `core.set` a value that makes it compute. */
const STALLING_NODE = `--import=${new URL('support/stalling-node.ts', import.meta.url).href}`;

/**
 * On a busy machine a worker may also lose so short a lease while it computes for itself, when it compiles something for example. It knows no cause
 * then, and a crash counts for all that it ran.
 */
function unexplainedLosses(workers: readonly ServiceProcess[]): number {
  return workers
    .flatMap(({ output }) => output.split('\n'))
    .filter((line) => line.includes('worker lost its lease'))
    .map((line) => JSON.parse(line) as { was_busy: boolean; stalled_by: readonly number[] })
    .filter(({ was_busy: wasBusy, stalled_by: causes }) => wasBusy && causes.length === 0).length;
}

it('a live worker that lost its lease three times has not crashed: its execution completes', async () => {
  const { db, receiver } = world();
  const client = world().client(await world().api());
  const workflow = await client.createWorkflow('slow', chain(post('slow', receiver.url('/slow'))));
  const hold = receiver.hold('/slow', 100);
  const worker = await world().worker(SHORT_LEASE);
  await warmUp(world(), client, 1);
  const id = await client.accept(workflow, 'm');
  await receiver.arrival('/slow', 1);
  for (let time = 1; time <= 3; time += 1) {
    const lease = await world().leaseOf(worker);
    worker.signal('SIGSTOP');
    await until('the end of the lease', async () => {
      const rows = await db.query(
        'SELECT FROM workers WHERE id = $1 AND lease_expires_at <= clock_timestamp()',
        [lease],
      );
      return rows.length === 1;
    });
    worker.signal('SIGCONT');
    await until('a new lease', async () => (await world().leaseOf(worker)) !== lease);
    await until('the execution in hand again, or ended', async () => {
      const row = await readExecution(db, id);
      return row.completed_at !== null || row.claim > time;
    });
  }
  hold.release();
  expect(await finished(db, id)).toMatchObject({ status: 'completed', crashed_attempts: 0 });
});

it('an execution that ran beside a poison one is not failed with it', async () => {
  const { db, receiver } = world();
  const client = world().client(await world().api());
  const poison = await client.createWorkflow('poison', chain(post('drink', receiver.url('/poison'))));
  const bystander = await client.createWorkflow('bystander', chain(post('wait', receiver.url('/wait'))));
  receiver.hold('/poison', 100);
  const hold = receiver.hold('/wait', 100);
  const poisonId = await client.accept(poison, 'poison');
  const id = await client.accept(bystander, 'bystander');
  for (let crash = 1; crash <= 3; crash += 1) {
    const worker = await world().worker(LONG_LEASE);
    await receiver.arrival('/poison', crash);
    // With one attempt left each, they no longer run concurrently.
    if (crash < 3) await until('the bystander in hand', () => receiver.to('/wait').length >= crash);
    await world().killForGood(worker);
  }
  hold.release();
  await world().worker(LONG_LEASE);
  expect(await finished(db, poisonId)).toMatchObject({ status: 'failed' });
  expect(await finished(db, id)).toMatchObject({ status: 'completed', crashed_attempts: 2 });
});

it.each([1, 2])(
  'an execution that stalls its worker beyond the lease crashes alone, with workers: %i',
  async (count) => {
    const { db, receiver } = world();
    const client = world().client(await world().api());
    const bystander = await client.createWorkflow(
      'beside',
      chain(post('wait', receiver.url(`/beside-${count}`))),
    );
    // Each stall costs the lease before the call that follows.
    const call = (id: string) => post(id, receiver.url(`/${id}-${count}`));
    const stall = (id: string) => set(id, { stall_ms: 1_500 });
    const steps = chain(
      stall('first'),
      call('one'),
      stall('second'),
      call('two'),
      stall('third'),
      call('three'),
    );
    const stalling = await client.createWorkflow('stalling', steps);
    const hold = receiver.hold(`/beside-${count}`, 100);
    const environment = { ...SHORT_LEASE, NODE_OPTIONS: STALLING_NODE };
    const workers = await Promise.all(
      Array.from({ length: count }, () => world().worker(environment, SOURCES)),
    );
    await warmUp(world(), client, count);
    const id = await client.accept(bystander, `beside ${count}`);
    await receiver.arrival(`/beside-${count}`, 1);
    const stallingId = await client.accept(stalling, `stalling ${count}`);
    expect(await finished(db, stallingId)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('worker_crashed'),
    });
    expect(receiver.to(`/three-${count}`)).toEqual([]);
    // Another worker may have counted one that isn't taken back yet.
    await until('no crash of the bystander', async () => {
      const { crashed_attempts: crashes } = await readExecution(db, id);
      return crashes <= unexplainedLosses(workers);
    });
    hold.release();
    const { status, crashed_attempts: crashes } = await finished(db, id);
    expect(status).toBe('completed');
    expect(crashes).toBeLessThanOrEqual(unexplainedLosses(workers));
    const output = workers.map((worker) => worker.output).join('');
    expect(output).toContain(`"execution_id":${stallingId},"node_id":"first"`);
    expect(output).toContain(`"stalled_by":[${stallingId}]`);
  },
);
