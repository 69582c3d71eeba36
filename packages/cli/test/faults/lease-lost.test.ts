import { expect, it } from 'vitest';
import { chain, post } from './support/client.ts';
import { finished, readExecution } from './support/ledger.ts';
import { LONG_LEASE } from './support/service-process.ts';
import { until } from './support/until.ts';
import { useWorld } from './support/use-world.ts';

const world = useWorld();

it('a live worker that lost its lease three times has not crashed: its execution completes', async () => {
  const { db, receiver } = world();
  const client = world().client(await world().api());
  const workflow = await client.createWorkflow('slow', chain(post('slow', receiver.url('/slow'))));
  const hold = receiver.hold('/slow', 100);
  const worker = await world().worker({ MILLRACE_LEASE_MS: '1000', MILLRACE_HEARTBEAT_MS: '200' });
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
