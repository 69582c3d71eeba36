import { failure, success } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { afterEach, describe, expect, test } from 'vitest';
import { flowOf, type TestNode } from './flows.ts';
import { sendSameStarts } from './same-starts.ts';
import { startWorkingService, type WorkingOverrides, type WorkingService } from './service-with-worker.ts';

let service: WorkingService;
afterEach(() => service.stop());

/** However slow the machine is. */
const ROOMY = { nodes: 100, bytes: 65_536, ms: 60_000 };

async function start(overrides: WorkingOverrides = {}): Promise<void> {
  service = await startWorkingService({ ...overrides, worker: { runAhead: ROOMY, ...overrides.worker } });
}

interface Stored {
  readonly status: string;
  readonly worker_id: string | null;
  readonly in_row: number;
  readonly apart: number;
}

/** How the execution is stored: its status, and how many node records are in its row and apart from it. */
async function storedOf(id: number): Promise<Stored> {
  const [row] = await service.database.db.query<Stored>(
    `SELECT status, worker_id, coalesce(json_array_length(first_records), 0) AS in_row,
       (SELECT coalesce(sum(json_array_length(records)), 0)::integer FROM execution_checkpoints WHERE execution_id = e.id) AS apart
     FROM executions e WHERE id = $1`,
    [id],
  );
  if (row === undefined) throw new Error(`execution ${id} is not stored`);
  return row;
}

/** A chain after the trigger; nodes named `effect...` have an effect, the others are pure. Behaviours are named like their nodes. */
function chain(...ids: readonly string[]): object {
  const nodes = ids.map(
    (id): TestNode => [id, id.startsWith('effect') ? 'test.effect' : 'test.pure', { config: { do: id } }],
  );
  return flowOf(
    nodes,
    ids.map((id, index) => `${ids[index - 1] ?? 'start'}>${id}`),
  );
}

/** Counts how often each node runs. */
function countRuns(...ids: readonly string[]): Map<string, number> {
  const runs = new Map<string, number>();
  for (const id of ids) {
    service.behaviours.set(id, () => {
      runs.set(id, (runs.get(id) ?? 0) + 1);
      return success({ from: id });
    });
  }
  return runs;
}

describe('an execution without effects', () => {
  test('has ended when it is acknowledged, in one row', async () => {
    await start();
    const changed: number[] = [];
    service.deps.notifier.onChanged((id) => changed.push(id));
    const runs = countRuns('a', 'b');
    const id = await service.execute(await service.createWorkflow(chain('a', 'b')), { n: 1 });
    expect(await storedOf(id)).toEqual({ status: 'completed', worker_id: null, in_row: 3, apart: 0 });
    expect(changed).toContain(id);
    const detail = await service.read(id);
    expect(detail).toMatchObject({
      status: 'completed',
      node_outputs: { a: { status: 'success', output: { from: 'a' } }, b: { output: { from: 'b' } } },
    });
    expect(detail.started_at).toBe(detail.created_at);
    expect([...runs]).toEqual([
      ['a', 1],
      ['b', 1],
    ]);
  });

  test('whose config takes long to render is left to the worker, which continues there', async () => {
    await start();
    const configs: unknown[] = [];
    service.behaviours.set('a', (context) => {
      configs.push(context.config);
      return success({});
    });
    const config = { do: 'a', length: '{{trigger.data.numbers | json | length}}' };
    const flow = flowOf([['a', 'test.pure', { config }]], ['start>a']);
    const workflowId = await service.createWorkflow(flow);
    const id = await service.execute(workflowId, { numbers: Array(25_000).fill(1) });
    expect((await storedOf(id)).status).not.toBe('completed');
    expect(await service.finished(id)).toMatchObject({ status: 'completed' });
    expect(configs).toEqual([{ do: 'a', length: 50_001 }]);
  });

  test('that fails starts its error workflow', async () => {
    await start();
    service.behaviours.set('a', () => failure('broken', verbatim('it broke')));
    const handler = await service.createWorkflow(flowOf([], []));
    const flow = { ...chain('a'), settings: { error_workflow_id: handler } };
    const id = await service.execute(await service.createWorkflow(flow));
    expect(await storedOf(id)).toMatchObject({ status: 'failed', worker_id: null });
    expect(await service.read(id)).toMatchObject({ error: { code: 'broken', node_id: 'a' } });
    const { db } = service.database;
    await expect
      .poll(() =>
        db.query("SELECT input #>> '{error,code}' AS code FROM executions WHERE workflow_id = $1", [handler]),
      )
      .toEqual([{ code: 'broken' }]);
  });

  test('leaves nothing behind when it cannot be stored', async () => {
    await start();
    const { db } = service.database;
    const runs = countRuns('a', 'effect');
    const workflowId = await service.createWorkflow(chain('a', 'effect'));
    await db.query('ALTER TABLE executions ADD CONSTRAINT refused CHECK (false) NOT VALID');
    await expect(service.execute(workflowId)).rejects.toThrow('internal_error');
    await db.query('ALTER TABLE executions DROP CONSTRAINT refused');
    expect(await db.query('SELECT FROM executions')).toEqual([]);
    expect([...runs]).toEqual([['a', 1]]);
    // Its slot is free again.
    const id = await service.execute(workflowId);
    expect(await service.finished(id)).toMatchObject({ status: 'completed' });
    expect(runs.get('effect')).toBe(1);
  });

  test('that another request with its Idempotency-Key came before is dropped', async () => {
    await start();
    await sendSameStarts(service, await service.createWorkflow(chain('a')));
    expect(await service.database.db.query('SELECT FROM executions')).toHaveLength(1);
  });
});

describe('an execution with effects', () => {
  test('is run up to the first one, and its row says that this one runs', async () => {
    await start();
    const runs = countRuns('a', 'b');
    const held = Promise.withResolvers<void>();
    service.behaviours.set('effect', async () => {
      await held.promise;
      return success({});
    });
    const id = await service.execute(await service.createWorkflow(chain('a', 'effect', 'b')));
    expect(await storedOf(id)).toMatchObject({ status: 'running', in_row: 3, apart: 0 });
    expect(await service.read(id)).toMatchObject({
      node_outputs: { a: { status: 'success' }, effect: { status: 'running' } },
    });
    held.resolve();
    expect(await service.finished(id)).toMatchObject({
      status: 'completed',
      node_outputs: { effect: { status: 'success' }, b: { output: { from: 'b' } } },
    });
    expect((await service.read(id)).node_outputs.effect?.attempts ?? 1).toBe(1);
    expect([...runs.values()]).toEqual([1, 1]);
  });

  test('is continued by another worker from what its row has', async () => {
    await start({ worker: { heartbeatMs: 1_000, leaseMs: 60_000, pollMs: 3_600_000 } });
    const runs = countRuns('a');
    let calls = 0;
    service.behaviours.set('effect', (context) => {
      calls += 1;
      if (calls > 1) return success({});
      return new Promise((resolve) => context.signal.addEventListener('abort', () => resolve(success({}))));
    });
    const id = await service.execute(await service.createWorkflow(chain('a', 'effect')));
    await expect.poll(() => calls).toBe(1);
    await service.database.db.query("UPDATE workers SET lease_expires_at = now() - interval '1 second'");
    await service.startWorker({ pollMs: 20 });
    expect(await service.finished(id)).toMatchObject({
      status: 'completed',
      node_outputs: { effect: { attempts: 2 } },
    });
    expect(runs.get('a')).toBe(1);
  });
});

describe('what the budget leaves is run after the insert', () => {
  test('nodes', async () => {
    await start({ worker: { runAhead: { ...ROOMY, nodes: 2 } } });
    const runs = countRuns('a', 'b', 'c');
    const id = await service.execute(await service.createWorkflow(chain('a', 'b', 'c')));
    expect(await service.finished(id)).toMatchObject({
      status: 'completed',
      node_outputs: { c: { output: { from: 'c' } } },
    });
    expect([...runs.values()]).toEqual([1, 1, 1]);
    expect(await storedOf(id)).toMatchObject({ in_row: 0, apart: 4 });
  });

  test('output', async () => {
    await start({ worker: { runAhead: { ...ROOMY, bytes: 1_024 } } });
    const runs = countRuns('b');
    service.behaviours.set('a', () => success({ text: 'x'.repeat(2_000) }));
    const id = await service.execute(await service.createWorkflow(chain('a', 'b')));
    expect(await service.finished(id)).toMatchObject({ status: 'completed' });
    expect(runs.get('b')).toBe(1);
    expect(await storedOf(id)).toMatchObject({ in_row: 0, apart: 3 });
  });

  test('input', async () => {
    await start({ worker: { runAhead: { ...ROOMY, bytes: 1_024 } } });
    const runs = countRuns('a');
    const workflowId = await service.createWorkflow(chain('a'));
    const id = await service.execute(workflowId, { text: 'x'.repeat(2_000) });
    expect(await service.finished(id)).toMatchObject({ status: 'completed' });
    expect(runs.get('a')).toBe(1);
    expect(await storedOf(id)).toMatchObject({ in_row: 0, apart: 2 });
  });

  test('a node that takes its time: it is started once', async () => {
    await start();
    const runs = countRuns('b');
    let calls = 0;
    service.behaviours.set('a', async () => {
      calls += 1;
      await new Promise((resolve) => setImmediate(resolve));
      return success({});
    });
    const id = await service.execute(await service.createWorkflow(chain('a', 'b')));
    expect(await service.finished(id)).toMatchObject({ status: 'completed' });
    expect([calls, runs.get('b')]).toEqual([1, 1]);
  });

  test('with a budget of 0, everything', async () => {
    await start({ worker: { runAhead: { ...ROOMY, nodes: 0 } } });
    countRuns('a');
    const id = await service.execute(await service.createWorkflow(chain('a')));
    expect(await service.finished(id)).toMatchObject({ status: 'completed' });
    expect(await storedOf(id)).toMatchObject({ in_row: 0, apart: 2 });
  });
});
