import { describe, expect, it } from 'vitest';
import { chain, post } from './support/client.ts';
import { finished, readExecution, timesRecorded } from './support/ledger.ts';
import { LONG_LEASE, SURE_LEASE } from './support/service-process.ts';
import { until } from './support/until.ts';
import { useWorld } from './support/use-world.ts';
import { warmUp } from './support/warm-up.ts';

const world = useWorld();

/** Two sequential effects; `name` keeps the paths of tests apart. */
function twoEffects(name: string) {
  const { receiver } = world();
  const paths = { first: `/${name}/first`, second: `/${name}/second` };
  const flow = chain(post('first', receiver.url(paths.first)), post('second', receiver.url(paths.second)));
  return { paths, flow };
}

describe('SIGSTOP of a worker past its lease, then SIGCONT', () => {
  it('its late writes change nothing, it starts no effect, and it then works again', async () => {
    const { db, receiver } = world();
    const client = world().client(await world().api());
    const { paths, flow } = twoEffects('stop');
    const workflow = await client.createWorkflow('stopped', flow);
    const hold = receiver.hold(paths.first, 2);
    const sleeper = await world().worker(SURE_LEASE);
    await warmUp(world(), client, 1);
    const oldLease = await world().leaseOf(sleeper);
    const id = await client.accept(workflow, 'm');
    await receiver.arrival(paths.first, 1);

    sleeper.signal('SIGSTOP');
    const other = await world().worker(LONG_LEASE);
    await receiver.arrival(paths.first, 2);
    // The sleeper wakes up with its response received, while the other still waits for its own.
    hold.releaseFirst();
    const before = await readExecution(db, id);
    sleeper.signal('SIGCONT');
    await until('a new lease of the sleeper', async () => (await world().leaseOf(sleeper)) !== oldLease);
    expect(before.crashed_attempts).toBe(1);
    // It was held up itself, so its executions are to blame for nothing.
    await until(
      'the crash to be taken back',
      async () => (await readExecution(db, id)).crashed_attempts === 0,
    );
    expect(await readExecution(db, id)).toEqual({ ...before, crashed_attempts: 0 });
    expect(await timesRecorded(db, id, 'first')).toBe(0);
    expect(receiver.to(paths.second)).toHaveLength(0);

    hold.release();
    expect(await finished(db, id)).toMatchObject({ status: 'completed', crashed_attempts: 0, claim: 2 });
    expect(new Set(receiver.to(paths.first).map((request) => request.deliveryKey)).size).toBe(1);
    expect(receiver.to(paths.second)).toHaveLength(1);
    expect(await timesRecorded(db, id, 'first')).toBe(1);
    expect(await timesRecorded(db, id, 'second')).toBe(1);

    await other.end();
    const next = await client.accept(workflow, 'next');
    expect(await finished(db, next)).toMatchObject({ status: 'completed', crashed_attempts: 0 });
    expect(sleeper.isRunning).toBe(true);
  });
});

describe('SIGTERM of a worker', () => {
  it('lets executions finish that end in time', async () => {
    const { db, receiver } = world();
    const client = world().client(await world().api());
    const { paths, flow } = twoEffects('drain');
    const workflow = await client.createWorkflow('drained', flow);
    const hold = receiver.hold(paths.first);
    const worker = await world().worker({ ...LONG_LEASE, MILLRACE_SHUTDOWN_GRACE_MS: '20000' });
    const id = await client.accept(workflow, 'm');
    await receiver.arrival(paths.first, 1);
    worker.signal('SIGTERM');
    const late = await client.accept(workflow, 'late');
    hold.release();
    expect(await worker.ended()).toEqual({ code: 0, signal: null });
    expect(await readExecution(db, id)).toMatchObject({ status: 'completed', crashed_attempts: 0, claim: 1 });
    expect(receiver.to(paths.first).filter((request) => isFor(request.body, 'm'))).toHaveLength(1);
    expect(receiver.to(paths.second).filter((request) => isFor(request.body, 'm'))).toHaveLength(1);

    await world().worker(LONG_LEASE);
    expect(await finished(db, late)).toMatchObject({ status: 'completed', crashed_attempts: 0 });
  });

  it('hands back the others, without counting a crash', async () => {
    const { db, receiver } = world();
    const client = world().client(await world().api());
    const { paths, flow } = twoEffects('hand-back');
    const workflow = await client.createWorkflow('handed back', flow);
    receiver.hold(paths.first);
    // A lease that no test outlives: only released work can be taken by the next worker.
    const worker = await world().worker({ MILLRACE_SHUTDOWN_GRACE_MS: '300', MILLRACE_LEASE_MS: '600000' });
    const id = await client.accept(workflow, 'm');
    await receiver.arrival(paths.first, 1);
    expect(await worker.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(await readExecution(db, id)).toMatchObject({
      status: 'queued',
      crashed_attempts: 0,
      worker_id: null,
    });

    await world().worker(LONG_LEASE);
    expect(await finished(db, id)).toMatchObject({ status: 'completed', crashed_attempts: 0 });
    expect(receiver.to(paths.first)).toHaveLength(2);
    expect(new Set(receiver.to(paths.first).map((request) => request.deliveryKey)).size).toBe(1);
    expect(receiver.to(paths.second)).toHaveLength(1);
    expect(await timesRecorded(db, id, 'first')).toBe(1);
  });
});

function isFor(body: unknown, marker: string): boolean {
  return typeof body === 'object' && body !== null && 'marker' in body && body.marker === marker;
}
