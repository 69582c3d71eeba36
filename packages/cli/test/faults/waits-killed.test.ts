import type { Queryable } from '@millrace/database/database';
import { holdLocks } from '@millrace/testing/hold-locks';
import { describe, expect, it } from 'vitest';
import { chain, post } from './support/client.ts';
import { finished, parked, readExecution, readExecutions } from './support/ledger.ts';
import { LONG_LEASE } from './support/service-process.ts';
import { until } from './support/until.ts';
import { useWorld } from './support/use-world.ts';

const world = useWorld();

type Step = Parameters<typeof chain>[0];

interface Detail {
  readonly status: string;
  readonly node_outputs: {
    readonly [id: string]: { readonly status: string; readonly output: { readonly [name: string]: unknown } };
  };
}

const call = (workflowId: number): Step => ({
  id: 'call',
  type: 'flow.call',
  config: { workflow_id: workflowId, input: { marker: 'child' } },
});

const callback = (url: string): Step => ({
  id: 'wait',
  type: 'wait.callback',
  config: { request: { url, body: { callback_url: '{{args.callback_url}}' } } },
});

/** Path of the address that the receiver got. */
async function callbackPath(path: string): Promise<string> {
  const [request] = await world().receiver.arrival(path, 1);
  return new URL((request?.body as { callback_url: string } | undefined)?.callback_url ?? '').pathname;
}

/** A session of the service that waits for the test's transaction, and for nothing else. */
async function someoneWaitsFor(tx: Queryable): Promise<void> {
  const [session] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  await until('a session that waits for the lock', async () => {
    const rows = await world().db.query(
      'SELECT FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))',
      [session?.pid],
    );
    return rows.length > 0;
  });
}

/** The end of an execution is stored before its effects on others are processed. */
async function nothingLeftToDo(): Promise<void> {
  await until('the follow-ups of all ends', async () => {
    return (await world().db.query('SELECT FROM execution_follow_ups')).length === 0;
  });
}

describe('SIGKILL of a worker', () => {
  it('that runs a child: the child is run again and the waiting parent continues; there is one child', async () => {
    const { db, receiver } = world();
    const client = world().client(await world().api());
    receiver.hold('/child');
    const child = await client.createWorkflow('child', chain(post('work', receiver.url('/child'))));
    const parent = await client.createWorkflow(
      'parent',
      chain(call(child), post('after', receiver.url('/after'))),
    );
    const victim = await world().worker(LONG_LEASE);
    const id = await client.accept(parent, 'm');
    await receiver.arrival('/child', 1);
    await parked(world().db, id);
    await world().killForGood(victim);
    await world().worker(LONG_LEASE);
    expect(await finished(db, id)).toMatchObject({ status: 'completed', crashed_attempts: 0 });
    const children = await readExecutions(db, child);
    expect(children).toMatchObject([{ status: 'completed', crashed_attempts: 1 }]);
    expect(receiver.to('/after')).toHaveLength(1);
    const detail = await client.get<Detail>(`/executions/${id}`);
    expect(detail.node_outputs.call?.output).toMatchObject({ execution_id: children[0]?.id });
  });

  it("after starting a child and before the parent's record says so: the child is found again", async () => {
    const { db, receiver, cluster } = world();
    const client = world().client(await world().api());
    const child = await client.createWorkflow('twin', chain(post('work', receiver.url('/twin'))));
    const parent = await client.createWorkflow('parent of twin', chain(call(child)));
    // The write that parks the parent waits for the test.
    await db.query(`CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NEW; END $$`);
    await db.query(`CREATE TRIGGER wait_for_test BEFORE UPDATE ON executions FOR EACH ROW
      WHEN (NEW.status = 'waiting_async' AND NEW.workflow_id = ${parent}) EXECUTE FUNCTION wait_for_test()`);
    let id = 0;
    await holdLocks(world().db, async (tx) => {
      await tx.query('SELECT pg_advisory_xact_lock(4711)');
      // One at a time: while it waits with the parent, it can't start the child as well.
      const victim = await world().worker({ ...LONG_LEASE, MILLRACE_WORKER_CONCURRENCY: '1' });
      id = await client.accept(parent, 'm');
      await until('the child', async () => (await readExecutions(db, child)).length === 1);
      await someoneWaitsFor(tx);
      await world().killForGood(victim);
      // Its last statement must not be executed after its end.
      await cluster.terminateSessions();
    });
    await db.query('DROP TRIGGER wait_for_test ON executions');
    expect((await readExecution(db, id)).status).toBe('running');
    await world().worker(LONG_LEASE);
    expect(await finished(db, id)).toMatchObject({ status: 'completed', crashed_attempts: 1 });
    expect(await readExecutions(db, child)).toMatchObject([{ status: 'completed' }]);
    expect(receiver.to('/twin')).toHaveLength(1);
  });

  it("while it notifies a parent of its child's end: another one notifies it, once", async () => {
    const { db, receiver, cluster } = world();
    const client = world().client(await world().api());
    const hold = receiver.hold('/told');
    const child = await client.createWorkflow('told', chain(post('work', receiver.url('/told'))));
    const parent = await client.createWorkflow('parent of told', chain(call(child)));
    const victim = await world().worker(LONG_LEASE);
    const id = await client.accept(parent, 'm');
    await receiver.arrival('/told', 1);
    await parked(world().db, id);
    await holdLocks(world().db, async (tx) => {
      // Notifying the parent requires its row.
      await tx.query('SELECT FROM executions WHERE id = $1 FOR NO KEY UPDATE', [id]);
      hold.release();
      await until('the end of the child', async () => {
        return (await readExecutions(db, child))[0]?.status === 'completed';
      });
      await someoneWaitsFor(tx);
      await world().killForGood(victim);
      await cluster.terminateSessions();
    });
    expect((await readExecution(db, id)).status).toBe('waiting_async');
    const [told] = await readExecutions(db, child);
    expect(await db.query('SELECT kind, execution_id FROM execution_follow_ups')).toEqual([
      { kind: 'tell_parent', execution_id: told?.id },
    ]);
    await world().worker(LONG_LEASE);
    expect((await finished(db, id)).status).toBe('completed');
    await nothingLeftToDo();
    const signals = await db.query('SELECT seq FROM execution_signals WHERE execution_id = $1', [id]);
    expect(signals).toEqual([{ seq: 1 }]);
  });
});

describe('SIGKILL of all processes', () => {
  it('a parked execution continues by its callback after a restart', async () => {
    const { db, receiver } = world();
    const api = await (await world().spawn('api')).ready();
    const client = world().client(api);
    const workflow = await client.createWorkflow(
      'patient',
      chain(callback(receiver.url('/patient')), post('after', receiver.url('/resumed'))),
    );
    const worker = await world().worker(LONG_LEASE);
    const id = await client.accept(workflow, 'm');
    const path = await callbackPath('/patient');
    await parked(world().db, id);
    await Promise.all([api.end('SIGKILL'), worker.end('SIGKILL')]);
    const again = await world().api();
    const answer = () => fetch(`${again.url}${path}`, { method: 'POST' });
    expect((await answer()).status).toBe(200);
    expect((await readExecution(db, id)).status).toBe('waiting_async');
    expect((await answer()).status).toBe(409);
    await world().worker(LONG_LEASE);
    expect(await finished(db, id)).toMatchObject({ status: 'completed', crashed_attempts: 0 });
    expect(receiver.to('/patient')).toHaveLength(1);
    expect(receiver.to('/resumed')).toHaveLength(1);
  });
});
