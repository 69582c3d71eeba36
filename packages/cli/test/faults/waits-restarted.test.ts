import { describe, expect, it } from 'vitest';
import { chain, type Flow, post } from './support/client.ts';
import { finished, parked, readExecution } from './support/ledger.ts';
import { LONG_LEASE } from './support/service-process.ts';
import { until } from './support/until.ts';
import { useWorld } from './support/use-world.ts';

const world = useWorld();

const DELAY_S = 3_600;

interface Detail {
  readonly node_outputs: {
    readonly [id: string]: {
      readonly status: string;
      readonly output: { readonly [name: string]: unknown };
      readonly attempts?: number;
    };
  };
}

/** Posts, waits an hour, posts again; may post something else concurrently. */
function delayed(name: string, isBusy: boolean): Flow {
  const { receiver } = world();
  const { nodes, edges } = chain(
    post('before', receiver.url(`/${name}-before`)),
    { id: 'delay', type: 'core.delay', config: { duration: { amount: DELAY_S, unit: 'seconds' } } },
    post('after', receiver.url(`/${name}-after`)),
  );
  if (!isBusy) return { nodes, edges };
  const { id, type, config } = post('busy', receiver.url(`/${name}-busy`));
  return {
    nodes: [...nodes, { id, type, data: { config } }],
    edges: [...edges, { source: 'start', target: id }],
  };
}

/** The execution's stored delay; null while there is none. */
async function delayUntil(id: number): Promise<string | null> {
  const [row] = await world().db.query<{ until: string }>(
    `SELECT record #>> '{output,waited_until}' AS until FROM execution_chunks, json_array_elements(records) AS record
     WHERE execution_id = $1 AND record ->> 'nodeId' = 'delay' AND record ->> 'status' = 'waiting'`,
    [id],
  );
  return row?.until ?? null;
}

/** The hour is over: the stored times are in the past. */
async function hourPasses(id: number): Promise<void> {
  const { db } = world();
  await db.query(
    `UPDATE execution_checkpoints
     SET records = regexp_replace(records::text, '"wakeAtMs":\\d+', '"wakeAtMs":1', 'g')::json
     WHERE execution_id = $1`,
    [id],
  );
  await db.query("UPDATE executions SET wake_at = now() WHERE id = $1 AND status = 'waiting_async'", [id]);
}

describe('SIGKILL of all processes in the middle of a delay', () => {
  it.each([
    ['that is parked', 'parked', 'waiting_async', 0],
    ['beside a node that runs', 'held', 'running', 1],
  ] as const)('%s: it ends on time, and nothing is done twice', async (_what, name, status, crashes) => {
    const { db, receiver } = world();
    const isBusy = status === 'running';
    receiver.hold('/held-busy');
    const api = await (await world().spawn('api')).ready();
    const workflow = await world().client(api).createWorkflow(name, delayed(name, isBusy));
    const worker = await world().worker(LONG_LEASE);
    const id = await world().client(api).accept(workflow, 'm');
    const planned = await until('the delay to be stored', () => delayUntil(id));
    if (isBusy) await receiver.arrival('/held-busy', 1);
    else await parked(world().db, id);
    await Promise.all([api.end('SIGKILL'), world().killForGood(worker)]);
    expect((await readExecution(db, id)).status).toBe(status);
    await world().worker(LONG_LEASE);
    // Repeated requests now get a response at once; the new owner of the delay keeps waiting for the original duration.
    await parked(world().db, id);
    expect(receiver.to(`/${name}-after`)).toEqual([]);
    await hourPasses(id);
    expect(await finished(db, id)).toMatchObject({ status: 'completed', crashed_attempts: crashes });
    expect(receiver.to(`/${name}-before`)).toHaveLength(1);
    expect(receiver.to(`/${name}-after`)).toHaveLength(1);
    const detail = await world()
      .client(await world().api())
      .get<Detail>(`/executions/${id}`);
    expect(detail.node_outputs.delay).toMatchObject({
      status: 'success',
      output: { waited_until: planned },
    });
    expect(detail.node_outputs.delay).not.toHaveProperty('attempts');
  });
});

describe('SIGKILL of all processes while a person is asked', () => {
  it('the link leads to the page of the new process, and the decision counts once', async () => {
    const { db, receiver } = world();
    const api = await (await world().spawn('api')).ready();
    const request = { url: receiver.url('/ask'), body: { url: '{{args.approval_url}}' } };
    const ask = { id: 'ask', type: 'wait.approval', config: { title: 'Really?', request } };
    const flow = chain(ask, post('done', receiver.url('/decided')));
    const edges = flow.edges.map((edge) =>
      edge.source === 'ask' ? { ...edge, sourceHandle: 'approve' } : edge,
    );
    const workflow = await world()
      .client(api)
      .createWorkflow('asks', { ...flow, edges });
    const worker = await world().worker(LONG_LEASE);
    const id = await world().client(api).accept(workflow, 'm');
    const [asked] = await receiver.arrival('/ask', 1);
    const path = new URL((asked?.body as { url: string } | undefined)?.url ?? '').pathname;
    await parked(world().db, id);
    await Promise.all([api.end('SIGKILL'), worker.end('SIGKILL')]);
    const again = await world().api();
    const page = await fetch(`${again.url}${path}`);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('Really?');
    const decide = (choice: string) =>
      fetch(`${again.url}${path}`, { method: 'POST', body: new URLSearchParams({ choice, name: 'Ada' }) });
    expect((await decide('approve')).status).toBe(200);
    expect((await decide('reject')).status).toBe(409);
    expect((await readExecution(db, id)).status).toBe('waiting_async');
    await world().worker(LONG_LEASE);
    expect(await finished(db, id)).toMatchObject({ status: 'completed', crashed_attempts: 0 });
    const detail = await world().client(again).get<Detail>(`/executions/${id}`);
    expect(detail.node_outputs.ask?.output).toMatchObject({
      decision: 'approve',
      decided_by: { via: 'link', name: 'Ada' },
    });
    expect(receiver.to('/ask')).toHaveLength(1);
    expect(receiver.to('/decided')).toHaveLength(1);
  });
});
