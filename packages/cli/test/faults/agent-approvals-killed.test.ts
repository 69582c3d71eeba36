import { randomBytes } from 'node:crypto';
import { addCredential } from '@millrace/credentials/credentials';
import { createSecretKeys } from '@millrace/secrets/keys';
import { type ModelServer, startModelServer } from '@millrace/testing/model-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/settings/config.ts';
import { chain } from './support/client.ts';
import { finished, readExecution } from './support/ledger.ts';
import { LONG_LEASE, type ServiceProcess } from './support/service-process.ts';
import { until } from './support/until.ts';
import { useWorld } from './support/use-world.ts';

const KEY = { MILLRACE_SECRET_KEY: randomBytes(32).toString('base64') };
const world = useWorld(KEY);
let model: ModelServer;
let credentialId: number;

beforeAll(async () => {
  model = await startModelServer({
    answer: ({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? 'Paid back.'
        : { toolCalls: [{ name: 'pay_back', arguments: { order: 17 } }] },
  });
  const [organisation] = await world().db.query<{ id: number }>('SELECT id FROM organisations');
  const fields = { provider: 'anthropic', base_url: model.baseUrl('anthropic'), api_key: 'sk-test' };
  const given = {
    ...{ organisationId: organisation?.id ?? 0, name: 'model', type: 'ai', hosts: [], fields },
  } as const;
  const deps = { db: world().db, keys: createSecretKeys(loadConfig(KEY)) };
  credentialId = (await addCredential(deps, given, { actor: 'operator' })).id;
});
afterAll(() => model.close());

interface Asked {
  readonly id: number;
  readonly name: string;
  readonly worker: ServiceProcess;
  readonly decide: (choice: string) => Promise<Response>;
}

/** An execution whose agent has asked, and is parked. */
async function asking(name: string): Promise<Asked> {
  const { receiver, db } = world();
  const api = await world().api();
  const tool = {
    ...{ kind: 'node', name: 'pay_back', description: 'Pays back.', type: 'http.request' },
    parameters: { type: 'object', properties: { order: { type: 'integer' } } },
    config: { method: 'POST', url: receiver.url(`/${name}`), body: { order: '{{args.order}}' } },
    approval: 'always',
  };
  const config = {
    ...{ credential_id: credentialId, model: 'claude-sonnet-4-5', prompt: 'Help.', tools: [tool] },
    approval_request: { url: receiver.url(`/${name}-ask`), body: { url: '{{args.approval_url}}' } },
  };
  const workflow = await world()
    .client(api)
    .createWorkflow(name, chain({ id: 'agent', type: 'ai.agent', config }));
  const worker = await world().worker(LONG_LEASE);
  const id = await world().client(api).accept(workflow, name);
  const [asked] = await receiver.arrival(`/${name}-ask`, 1);
  const { pathname } = new URL((asked?.body as { url: string } | undefined)?.url ?? '');
  await until(`execution ${id} to be parked`, async () => {
    return (await readExecution(db, id)).status === 'waiting_async';
  });
  const decide = (choice: string) =>
    fetch(`${api.url}${pathname}`, { method: 'POST', body: new URLSearchParams({ choice, name: 'Ada' }) });
  return { id, name, worker, decide };
}

interface Detail {
  readonly node_outputs: { readonly agent?: { readonly output: unknown; readonly attempts?: number } };
}

async function agentOf(id: number): Promise<Detail['node_outputs']['agent']> {
  const detail = await world()
    .client(await world().api())
    .get<Detail>(`/executions/${id}`);
  return detail.node_outputs.agent;
}

const APPROVED = {
  text: 'Paid back.',
  steps: [
    { tool_calls: [{ approval: { decision: 'approved', decided_by: { via: 'link', name: 'Ada' } } }] },
    {},
  ],
};

describe('SIGKILL of the worker of an agent whose call needs approval', () => {
  it('while it waits: the decision counts, the model is not asked again, the call is made once', async () => {
    const { receiver, db } = world();
    const { id, name, worker, decide } = await asking('waits');
    const asked = model.requests.length;
    await world().killForGood(worker);
    expect((await decide('approve')).status).toBe(200);
    expect((await decide('reject')).status).toBe(409);
    expect(receiver.to(`/${name}`)).toEqual([]);
    await world().worker(LONG_LEASE);
    expect(await finished(db, id)).toMatchObject({ status: 'completed', crashed_attempts: 0 });
    expect([receiver.to(`/${name}`).length, model.requests.length - asked]).toEqual([1, 1]);
    expect(receiver.to(`/${name}-ask`)).toHaveLength(1);
    expect((await agentOf(id))?.output).toMatchObject(APPROVED);
  });

  it('after the decision, during the call: it is made again with the same key, and nobody is asked again', async () => {
    const { receiver, db } = world();
    receiver.hold('/decided');
    const { id, name, worker, decide } = await asking('decided');
    const asked = model.requests.length;
    expect((await decide('approve')).status).toBe(200);
    await receiver.arrival(`/${name}`, 1);
    await world().killForGood(worker);
    await world().worker(LONG_LEASE);
    expect(await finished(db, id)).toMatchObject({ status: 'completed', crashed_attempts: 1 });
    const calls = receiver.to(`/${name}`);
    expect(calls.map(({ body }) => body)).toEqual([{ order: 17 }, { order: 17 }]);
    expect(new Set(calls.map(({ deliveryKey }) => deliveryKey)).size).toBe(1);
    expect(calls[0]?.deliveryKey).not.toBe('');
    expect(receiver.to(`/${name}-ask`)).toHaveLength(1);
    expect(model.requests.length - asked).toBe(1);
    expect((await agentOf(id))?.output).toMatchObject(APPROVED);
  });

  it('after a rejection, before the model is told: no call is made', async () => {
    const { receiver, db } = world();
    const { id, name, worker, decide } = await asking('rejected');
    await world().killForGood(worker);
    expect((await decide('reject')).status).toBe(200);
    await world().worker(LONG_LEASE);
    expect(await finished(db, id)).toMatchObject({ status: 'completed' });
    expect(receiver.to(`/${name}`)).toEqual([]);
    expect((await agentOf(id))?.output).toMatchObject({
      steps: [{ tool_calls: [{ approval: { decision: 'rejected' } }] }, {}],
    });
  });
});
