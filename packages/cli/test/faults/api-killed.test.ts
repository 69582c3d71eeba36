import { connect } from 'node:net';
import type { Queryable } from '@millrace/database/database';
import { describe, expect, it } from 'vitest';
import { call, callUntilAccepted, whenCalled } from './support/caller.ts';
import { type Client, chain, post, type Start, set } from './support/client.ts';
import { allFinished, finished, readExecutions } from './support/ledger.ts';
import { retryUntilAccepted } from './support/load.ts';
import { LONG_LEASE, type ServiceProcess } from './support/service-process.ts';
import { until } from './support/until.ts';
import { useWorld } from './support/use-world.ts';

const world = useWorld();

const ITEMS = 50;

/** What became of one batch: its receipts, or null if no response arrived. */
interface Sent {
  readonly name: string;
  readonly ids: readonly number[] | null;
}

async function sendBatch(client: Client, workflow: number, name: string): Promise<Sent> {
  const items = Array.from({ length: ITEMS }, (_, n) => ({
    input_data: { marker: `${name}-${n}` },
    idempotency_key: `${name}-${n}`,
  }));
  const path = `/workflows/${workflow}/executions/batch`;
  const response = await client.post(path, { items }, { 'idempotency-key': name }).catch(() => null);
  const text = await response?.text().catch(() => null);
  if (response?.status !== 202 || text === null || text === undefined) return { name, ids: null };
  const { data } = JSON.parse(text) as { data: { receipt: { execution_id: number } }[] };
  return { name, ids: data.map(({ receipt }) => receipt.execution_id) };
}

/** The secret part of a workflow's addresses. */
async function hashOf(db: Queryable, workflowId: number): Promise<string> {
  const [row] = await db.query<{ hash: string }>('SELECT webhook_hash AS hash FROM workflows WHERE id = $1', [
    workflowId,
  ]);
  return row?.hash ?? '';
}

/** Starts one execution for each marker, which is also its key, while the process is killed. */
async function startUntilKilled(
  service: ServiceProcess,
  client: Client,
  workflow: number,
  markers: readonly string[],
): Promise<Start[]> {
  const starts: Start[] = [];
  const waiting = [...markers];
  const clients = Array.from({ length: 12 }, async () => {
    for (let marker = waiting.shift(); marker !== undefined; marker = waiting.shift()) {
      starts.push(await client.start(workflow, marker, marker));
      // Killed by a client, so that others are sure to be cut off.
      if (starts.length === 80) await service.end('SIGKILL');
    }
  });
  await Promise.all(clients);
  expect(starts.some(({ answer }) => answer.kind === 'cut')).toBe(true);
  expect(starts.find(({ answer }) => answer.kind === 'refused' && answer.status !== 503)).toBeUndefined();
  return starts;
}

describe('SIGKILL of the process that accepts starts', () => {
  // `api` queues every start; `start` leases it to itself on insert.
  it.each(['api', 'start'])(
    'millrace %s: a retry with the same Idempotency-Key creates exactly one execution',
    async (command) => {
      const { db, receiver } = world();
      const path = `/accepted-by/${command}`;
      const service = await (await world().spawn(command)).ready();
      const client = world().client(service);
      const workflow = await client.createWorkflow(path, chain(post('tell', receiver.url(path))));
      const markers = Array.from({ length: 240 }, (_, n) => `${command}-${n}`);
      const starts = await startUntilKilled(service, client, workflow, markers);
      const firstAnswers = new Map(starts.map(({ marker, answer }) => [marker, answer]));

      client.url = (await (await world().spawn(command)).ready()).url;
      await world().worker(LONG_LEASE);
      const retried = await Promise.all(starts.map((start) => retryUntilAccepted(client, workflow, start)));
      const rows = await allFinished(db, workflow);
      expect(rows).toHaveLength(markers.length);
      expect(new Set(rows.map((row) => row.marker))).toEqual(new Set(markers));
      expect(rows.filter((row) => row.status !== 'completed')).toEqual([]);
      for (const { marker, answer } of retried) {
        const first = firstAnswers.get(marker);
        if (first?.kind === 'accepted') {
          expect(answer).toMatchObject({ isReplay: true, executionId: first.executionId });
        }
      }
      const keys = Map.groupBy(receiver.to(path), (request) => (request.body as { marker: string }).marker);
      expect(keys.size).toBe(markers.length);
      for (const requests of keys.values())
        expect(new Set(requests.map((each) => each.deliveryKey)).size).toBe(1);
    },
  );

  it('an API without a worker: what it completed by itself is there once for each key, like what it had no time for', async () => {
    const { db } = world();
    const environment = { MILLRACE_RUN_AHEAD_NODES: '100', MILLRACE_RUN_AHEAD_MS: '100' };
    const service = await (await world().spawn('api', environment)).ready();
    const client = world().client(service);
    const workflow = await client.createWorkflow('by itself', chain(set('done', { ok: true })));
    const markers = Array.from({ length: 240 }, (_, n) => `itself-${n}`);
    const starts = await startUntilKilled(service, client, workflow, markers);
    const stored = new Map((await readExecutions(db, workflow)).map((row) => [row.id, row]));
    const completed = [...stored.values()].filter(({ status }) => status === 'completed');
    expect(completed.length).toBeGreaterThan(0);
    for (const { marker, answer } of starts)
      if (answer.kind === 'accepted') expect(stored.get(answer.executionId)?.marker).toBe(marker);

    client.url = (await (await world().spawn('api', environment)).ready()).url;
    await world().worker(LONG_LEASE);
    await Promise.all(starts.map((start) => retryUntilAccepted(client, workflow, start)));
    const rows = await allFinished(db, workflow);
    // Nothing that had completed has run again.
    for (const { id, completed_at } of completed)
      expect(rows.find((row) => row.id === id)?.completed_at).toEqual(completed_at);
    expect(rows.map(({ marker }) => marker).toSorted()).toEqual(markers.toSorted());
    expect(rows.filter(({ status }) => status !== 'completed')).toEqual([]);
  });

  it('stores a batch as a whole or not at all, and a retry gets the receipts of what was stored', async () => {
    const { db } = world();
    const service = await (await world().spawn('api')).ready();
    const client = world().client(service);
    const workflow = await client.createWorkflow('batches', chain(set('done', { ok: true })));
    const names = Array.from({ length: 48 }, (_, n) => `batch-${n}`);
    const waiting = [...names];
    const sent: Sent[] = [];
    const clients = Array.from({ length: 8 }, async () => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        sent.push(await sendBatch(client, workflow, name));
        if (sent.length === 16) await service.end('SIGKILL');
      }
    });
    await Promise.all(clients);
    expect(sent.some(({ ids }) => ids === null)).toBe(true);
    const stored = Map.groupBy(await readExecutions(db, workflow), ({ marker }) =>
      marker.slice(0, marker.lastIndexOf('-')),
    );
    expect([...stored.values()].filter((rows) => rows.length !== ITEMS)).toEqual([]);
    for (const { name, ids } of sent)
      if (ids !== null) expect(stored.get(name)?.map(({ id }) => id)).toEqual(ids);

    client.url = (await (await world().spawn('api')).ready()).url;
    await world().worker(LONG_LEASE);
    for (const { name } of sent) {
      const { ids } = await sendBatch(client, workflow, name);
      const before = stored.get(name);
      if (before !== undefined) expect(ids).toEqual(before.map(({ id }) => id));
    }
    const rows = await allFinished(db, workflow);
    expect(rows).toHaveLength(names.length * ITEMS);
    expect(new Set(rows.map(({ marker }) => marker)).size).toBe(rows.length);
    expect(rows.filter(({ status }) => status !== 'completed')).toEqual([]);
  });

  it('before it has answered the submission of a form: sent again, it has started one execution', async () => {
    const { db, receiver } = world();
    const api = await (await world().spawn('api')).ready();
    const client = world().client(api);
    const { nodes, edges } = chain(post('tell', receiver.url('/form')));
    const [start, ...others] = nodes;
    const config = { title: 'Order', fields: [{ label: 'What', name: 'marker', type: 'text' }] };
    const form = { id: start?.id ?? '', type: 'trigger.form', data: { config } };
    const workflow = await client.createWorkflow('form', { nodes: [form, ...others] as typeof nodes, edges });
    const path = `/api/v1/forms/${await hashOf(db, workflow)}`;
    const page = await (await fetch(`${api.url}${path}`)).text();
    const token = /name="_token" value="([^"]+)"/.exec(page)?.[1] ?? '';
    const body = new URLSearchParams({ _token: token, marker: 'desk' }).toString();

    // Nobody reads what it answers, if it gets that far.
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await until('the execution of a form', async () => (await readExecutions(db, workflow)).length === 1);
    await api.end('SIGKILL');
    socket.destroy();

    const again = await (await world().spawn('api')).ready();
    await world().worker(LONG_LEASE);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    for (let times = 0; times < 2; times += 1) {
      const sent = await fetch(`${again.url}${path}`, { method: 'POST', body, headers, redirect: 'manual' });
      expect([sent.status, sent.headers.get('location')]).toEqual([303, `${path}/thanks`]);
    }
    const rows = await allFinished(db, workflow);
    expect(rows.map(({ marker, status }) => [marker, status])).toEqual([['desk', 'completed']]);
    expect(receiver.to('/form')).toHaveLength(1);
  });

  it("while a webhook's caller waits for a node: the execution goes on, and the repeated call gets its receipt", async () => {
    const { db, receiver } = world();
    const api = await (await world().spawn('api')).ready();
    const client = world().client(api);
    const answer = { id: 'answer', type: 'webhook.respond', config: { body: 'done' } };
    const workflow = await client.createWorkflow(
      'cut',
      whenCalled(
        { respond: 'by_node', deduplicate: { by: 'path', name: 'marker' } },
        post('before', receiver.url('/cut/before')),
        answer,
        post('after', receiver.url('/cut/after')),
      ),
    );
    const before = receiver.hold('/cut/before');
    const url = await client.webhookOf(workflow);
    const { executionId, answer: first } = await callUntilAccepted(db, workflow, url, { marker: 'm' });
    // However long the worker takes to start, the caller isn't sent away meanwhile.
    api.signal('SIGSTOP');
    await world().worker(LONG_LEASE);
    await receiver.arrival('/cut/before', 1);
    await api.end('SIGKILL');
    expect(await first).toBe('cut');
    before.release();
    expect(await finished(db, executionId)).toMatchObject({ status: 'completed', crashed_attempts: 0 });
    expect(receiver.to('/cut/before')).toHaveLength(1);
    expect(receiver.to('/cut/after')).toHaveLength(1);

    const again = world().client(await world().api());
    const { pathname } = new URL(url);
    const repeated = await until('the receipt', async () => {
      const given = await call(`${again.url}${pathname}`, { marker: 'm' });
      return given !== 'cut' && given.status === 503 ? null : given;
    });
    expect(repeated).toMatchObject({ status: 202, body: { execution_id: executionId } });
    expect(await readExecutions(db, workflow)).toHaveLength(1);
    const detail = await again.get<{ node_outputs: object }>(`/executions/${executionId}`);
    expect(detail.node_outputs).toMatchObject({ answer: { status: 'success', output: { body: '"done"' } } });
  });
});
