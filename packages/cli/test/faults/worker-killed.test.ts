import { describe, expect, it } from 'vitest';
import { chain, post, set } from './support/client.ts';
import { allFinished, type ExecutionRow, finished, readExecutions, timesRecorded } from './support/ledger.ts';
import { LONG_LEASE, SURE_LEASE } from './support/service-process.ts';
import { until } from './support/until.ts';
import { useWorld } from './support/use-world.ts';
import { warmUp } from './support/warm-up.ts';

const world = useWorld();

interface Detail {
  readonly status: string;
  readonly node_outputs: { readonly [id: string]: { readonly status: string; readonly attempts?: number } };
  readonly error?: { readonly code: string };
}

function runningOf(rows: readonly ExecutionRow[]): ExecutionRow[] {
  return rows.filter((row) => row.status === 'running');
}

describe('SIGKILL of a worker', () => {
  it('in the middle of an effect node: another worker repeats it with the same delivery key, and nothing else', async () => {
    const { db, receiver } = world();
    const client = world().client(await world().api());
    const workflow = await client.createWorkflow(
      'three effects',
      chain(
        set('prepare', { total: 3 }),
        post('first', receiver.url('/kill/first')),
        post('second', receiver.url('/kill/second')),
        post('third', receiver.url('/kill/third')),
      ),
    );
    receiver.hold('/kill/second');
    const victim = await world().worker(SURE_LEASE);
    await warmUp(world(), client, 1);
    const id = await client.accept(workflow, 'm');
    await receiver.arrival('/kill/second', 1);

    await world().worker(LONG_LEASE);
    await victim.end('SIGKILL');

    const row = await finished(db, id);
    expect(row).toMatchObject({ status: 'completed', crashed_attempts: 1, claim: 2 });
    const [before, after] = receiver.to('/kill/second');
    expect(receiver.to('/kill/second')).toHaveLength(2);
    expect(after?.deliveryKey).toBe(before?.deliveryKey);
    expect(before?.deliveryKey).not.toBe('');
    expect(receiver.to('/kill/first')).toHaveLength(1);
    expect(receiver.to('/kill/third')).toHaveLength(1);
    const keys = ['first', 'second', 'third'].map((node) => receiver.to(`/kill/${node}`)[0]?.deliveryKey);
    expect(new Set(keys).size).toBe(3);
    for (const node of ['first', 'second', 'third']) expect(await timesRecorded(db, id, node)).toBe(1);
    const detail = await client.get<Detail>(`/executions/${id}`);
    expect(detail.node_outputs.second).toMatchObject({ status: 'success', attempts: 2 });
  });

  it('in the middle of pure nodes: every accepted execution completes, none twice', async () => {
    const { db } = world();
    const client = world().client(await world().api());
    const flow = chain(
      {
        id: 'sift',
        type: 'core.filter',
        config: { items: '{{vars.numbers}}', conditions: [{ operator: 'greater_than', right: 5 }] },
      },
      {
        id: 'again',
        type: 'core.filter',
        config: { items: '{{nodes.sift.output.items}}', conditions: [{ operator: 'less_than', right: 9e9 }] },
      },
      set('end', { count: '{{nodes.again.output.count}}' }),
    );
    const numbers = Array.from({ length: 2000 }, (_, number) => number);
    const workflow = await client.createWorkflow('busy', { ...flow, settings: { vars: { numbers } } });
    const ids = await Promise.all(
      Array.from({ length: 120 }, (_, n) => client.accept(workflow, `pure ${n}`)),
    );
    expect(new Set(ids).size).toBe(120);

    const victim = await world().worker({ ...LONG_LEASE, MILLRACE_WORKER_CONCURRENCY: '20' });
    await until('a worker in the middle of its work', async () => {
      // It does no more between the look and its end.
      victim.signal('SIGSTOP');
      const rows = await readExecutions(db, workflow);
      if (runningOf(rows).length >= 10 && rows.some((row) => row.status === 'completed')) {
        // What it has sent already could still be executed.
        await world().cluster.terminateSessions();
        if (runningOf(await readExecutions(db, workflow)).length > 0) return true;
      }
      victim.signal('SIGCONT');
      return false;
    });
    await world().killForGood(victim);
    const lost = runningOf(await readExecutions(db, workflow));
    expect(lost.length).toBeGreaterThan(0);

    await world().worker(LONG_LEASE);
    const rows = await allFinished(db, workflow);
    expect(rows.map((row) => row.id)).toEqual(ids.toSorted((a, b) => a - b));
    const lostIds = new Set(lost.map((row) => row.id));
    for (const row of rows) {
      expect(row.status).toBe('completed');
      // A process's last statement may be executed after its end.
      expect(row.crashed_attempts).toBeLessThanOrEqual(lostIds.has(row.id) ? 1 : 0);
      expect(row.claim).toBe(1 + row.crashed_attempts);
      expect(await timesRecorded(db, row.id, 'end')).toBe(1);
    }
    expect(rows.some((row) => row.crashed_attempts === 1)).toBe(true);
  });

  it('by a poison workflow at each run: it fails at the third crash, and the others complete', async () => {
    const { db, receiver } = world();
    const client = world().client(await world().api());
    const poison = await client.createWorkflow('poison', chain(post('drink', receiver.url('/poison'))));
    const healthy = await client.createWorkflow('healthy', chain(post('tell', receiver.url('/healthy'))));
    receiver.hold('/poison', 100);
    const poisonId = await client.accept(poison, 'poison');
    for (let crash = 1; crash <= 3; crash += 1) {
      const worker = await world().worker(LONG_LEASE);
      for (let n = 0; n < 5; n += 1) await client.accept(healthy, `healthy ${crash} ${n}`);
      await receiver.arrival('/poison', crash);
      // Only the poison ends the worker: what ran beside it has ended.
      await receiver.arrival('/healthy', crash * 5);
      await allFinished(db, healthy);
      await world().killForGood(worker);
    }
    await world().worker(LONG_LEASE);
    const row = await finished(db, poisonId);
    expect(row).toMatchObject({ status: 'failed', crashed_attempts: 3, worker_id: null });
    const detail = await client.get<Detail>(`/executions/${poisonId}`);
    expect(detail.error).toMatchObject({ code: 'worker_crashed' });
    expect(receiver.to('/poison')).toHaveLength(3);
    expect(new Set(receiver.to('/poison').map((request) => request.deliveryKey)).size).toBe(1);

    await client.accept(healthy, 'afterwards');
    const others = await allFinished(db, healthy);
    expect(others).toHaveLength(16);
    expect(others.every((other) => other.status === 'completed' && other.crashed_attempts === 0)).toBe(true);
    expect(receiver.to('/healthy')).toHaveLength(16);
  });
});
