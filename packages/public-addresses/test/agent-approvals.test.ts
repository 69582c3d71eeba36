import { randomBytes } from 'node:crypto';
import type { JsonObject } from '@millrace/engine';
import { listDecidedApprovals, listPendingApprovals } from '@millrace/service/callbacks/store';
import { decideApproval } from '@millrace/service/callbacks/use';
import { send } from '@millrace/testing/api';
import { addModelCredential } from '@millrace/testing/model-credential';
import {
  type ModelAnswer,
  type ModelServer,
  type ModelServerOptions,
  startModelServer,
} from '@millrace/testing/model-server';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Receiver } from '../../cli/test/faults/support/receiver.ts';
import { flowOf } from '../../runtime/test/worker/flows.ts';
import {
  type ExecutionBody,
  startWorkingService,
  type WorkingService,
} from '../../runtime/test/worker/service-with-worker.ts';
import { createChatIn, endOf, follow, newSession, send as say } from './chat-calls.ts';

const KEY = 'sk-of-the-agent';
let service: WorkingService;
let model: ModelServer;
let answer: ModelServerOptions['answer'];
let receiver: Receiver;
let credentialId: number;
beforeAll(async () => {
  model = await startModelServer({ answer: (request) => answer(request) });
  receiver = await Receiver.start();
  service = await startWorkingService({
    withWorker: false,
    limits: { requestsPerMinutePerWebhook: 0 },
    config: { allowHosts: [model.host], secretKeys: { current: randomBytes(32), previous: [] } },
  });
  const fields = { provider: 'anthropic', base_url: model.baseUrl('anthropic'), api_key: KEY };
  credentialId = await addModelCredential(service, service.key.organisationId, fields);
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
  await model.close();
});

/** What the model says, one after the other; then that it is done. */
function script(...answers: readonly ModelAnswer[]): void {
  let asked = 0;
  answer = () => {
    asked += 1;
    return answers[asked - 1] ?? { text: 'All done.' };
  };
}
const call = (...orders: readonly unknown[]): ModelAnswer => ({
  toolCalls: orders.map((order) => ({ name: 'pay_back', arguments: { order } as JsonObject })),
});

let path = '';
beforeEach(() => {
  path = `/pay-${randomBytes(4).toString('hex')}`;
});
const paid = () => receiver.to(path).map(({ body }) => body);

const agent = (config: JsonObject = {}, tool: JsonObject = {}) => ({
  credential_id: credentialId,
  model: 'claude-sonnet-4-5',
  prompt: 'Help.',
  tools: [
    {
      kind: 'node',
      name: 'pay_back',
      description: 'Pays back.',
      parameters: { type: 'object', properties: { order: {} }, required: ['order'] },
      type: 'http.request',
      config: { method: 'POST', url: receiver.url(path), body: '{{args.order}}' },
      approval: 'always',
      ...tool,
    },
  ],
  ...config,
});

async function start(config?: JsonObject, tool?: JsonObject): Promise<number> {
  const nodes: Parameters<typeof flowOf>[0] = [['agent', 'ai.agent', { config: agent(config, tool) }]];
  return service.execute(await service.createWorkflow(flowOf(nodes, ['start>agent'])));
}

/** What is asked now. @param after not this one any longer */
async function pendingOf(executionId: number, after = 0) {
  const { organisationId } = service.key;
  let found: Awaited<ReturnType<typeof listPendingApprovals>> = [];
  await expect
    .poll(
      async () => {
        const rows = await listPendingApprovals(service.database.db, organisationId, 1e9, 100);
        found = rows.filter((row) => row.execution_id === executionId && row.id > after);
        return [found.length, (await service.read(executionId)).node_outputs.agent?.status];
      },
      { timeout: 30_000 },
    )
    .toEqual([1, 'waiting']);
  return found[0] as (typeof found)[number];
}

const decide = (id: number, choice: string, given: JsonObject = {}, comment = '') =>
  decideApproval(service.database.db, service.key.organisationId, id, {
    ...{ choice, comment, given },
    decidedBy: { via: 'member', member_id: null, email: 'ada@example.org' },
  });

interface Step {
  readonly tool_calls: readonly { readonly approval?: { readonly decision: string } }[];
}

/** What was decided, in the order of the calls. */
function approvalsIn({ node_outputs: outputs }: ExecutionBody) {
  const steps = (outputs.agent?.output.steps ?? []) as readonly Step[];
  return steps.flatMap(({ tool_calls: calls }) => calls.map(({ approval }) => approval));
}

describe('a call that needs approval', () => {
  test('is made once, by whichever worker is there after the decision', async () => {
    script(call(17));
    const first = await service.startWorker();
    const id = await start();
    const { id: approval, title } = await pendingOf(id);
    expect(title).toBe('pay_back');
    await expect.poll(async () => (await service.read(id)).status).toBe('waiting_async');
    await first.stop();
    const asked = model.requests.length;
    expect(await decide(approval, 'approve', {}, 'fine')).toBe('accepted');
    expect(await decide(approval, 'reject')).toBe('used');
    expect(paid()).toEqual([]);
    const second = await service.startWorker();
    const ended = await service.finished(id);
    await second.stop();
    expect([ended.status, paid().length, model.requests.length - asked]).toEqual(['completed', 1, 1]);
    expect(ended.node_outputs.agent?.attempts).toBeUndefined();
    const by = { via: 'member', email: 'ada@example.org' };
    expect(approvalsIn(ended)).toMatchObject([{ decision: 'approved', reason: 'fine', decided_by: by }]);
  });

  describe('with a worker', () => {
    beforeAll(() => service.startWorker());

    test('is asked about again in a later turn, and each decision is for its own question', async () => {
      script(call(1), call(2), call(3));
      const id = await start();
      const one = await pendingOf(id);
      await decide(one.id, 'approve');
      const two = await pendingOf(id, one.id);
      expect(await decide(one.id, 'approve')).toBe('used');
      await decide(two.id, 'reject', {}, 'Not this one.');
      await decide((await pendingOf(id, two.id)).id, 'approve');
      const ended = await service.finished(id);
      const decisions = approvalsIn(ended).map((approval) => approval?.decision);
      expect(decisions).toEqual(['approved', 'rejected', 'approved']);
      expect(paid().map(String)).toEqual(['1', '3']);
      const decided = await listDecidedApprovals(service.database.db, service.key.organisationId, 1e9, 10);
      expect(decided.filter((row) => row.execution_id === id)).toHaveLength(3);
    });

    test('shows on its page what is called, without secrets, and takes changed arguments that fit', async () => {
      script(call({ amount: 3, why: `because ${KEY}`, token: 'tok-123' }));
      const parameters = {
        type: 'object',
        properties: { order: { type: 'object', properties: { amount: { type: 'integer', maximum: 10 } } } },
        required: ['order'],
      };
      const tool = { parameters, approval_edit: true };
      const request = { url: receiver.url(`${path}-ask`), body: { url: '{{args.approval_url}}' } };
      const id = await start({ approval_request: request }, tool);
      const { body } = (await receiver.arrival(`${path}-ask`, 1))[0] as { body: { url: string } };
      const link = service.url + body.url.slice('https://flows.example'.length);
      await pendingOf(id);
      const page = await send(link, 'GET');
      expect(page.text).toContain('<h1>pay_back</h1>');
      expect(page.text).toContain('because ***');
      expect(page.text).not.toMatch(/sk-of-the-agent|tok-123/);
      const headers = { 'content-type': 'application/x-www-form-urlencoded', 'accept-language': 'ja' };
      const post = (args: string) =>
        send(link, 'POST', {
          raw: new URLSearchParams({ choice: 'approve', 'field.arguments 1': args, name: 'Ada' }).toString(),
          headers,
        });
      const broken = await post('{"order": ');
      expect([broken.status, broken.text.includes('JSON として読み取れません')]).toEqual([422, true]);
      expect((await post('{"order":{"amount":4,"why":"because ***","token":"***"}}')).status).toBe(200);
      await service.finished(id);
      expect(paid()).toMatchObject([{ amount: 4, token: 'tok-123' }]);
    });

    test("is refused at once when changed arguments don't match the tool's", async () => {
      script(call(3));
      const parameters = {
        type: 'object',
        properties: { order: { type: 'integer', maximum: 10 } },
        required: ['order'],
      };
      const id = await start({}, { parameters, approval_edit: true });
      const { id: approval } = await pendingOf(id);
      const refused = await decide(approval, 'approve', { 'arguments 1': '{"order": 11}' });
      expect(refused).toMatchObject({ faults: [{ name: 'arguments 1' }] });
      expect(await decide(approval, 'approve', { 'arguments 1': '{"order": 10}' })).toBe('accepted');
      await service.finished(id);
      expect(paid().map(String)).toEqual(['10']);
    });

    test('is decided by the visitor of a chat only if the agent says so', async () => {
      for (const inChat of [true, false]) {
        script(call(5));
        const node = {
          id: 'agent',
          type: 'ai.agent',
          data: { config: agent({ approval_in_chat: inChat, approval_timeout_s: 60 }) },
        };
        const { url } = await createChatIn(service, {}, [node]);
        const session = newSession();
        const { body: turn } = await say(url, session, 'Pay back');
        const [row] = await service.database.db.query<{ id: number }>(
          'SELECT max(id)::integer AS id FROM executions',
        );
        const { id } = await pendingOf(row?.id ?? 0);
        const to = `${url}/turns/${String(turn.number)}/decisions`;
        const choose = (by: string) =>
          send(to, 'POST', {
            headers: { 'x-chat-session': by },
            body: { id, choice: 'reject', comment: 'No, thanks.' },
          });
        expect((await choose(newSession())).status).not.toBe(200);
        expect((await choose(session)).status).toBe(inChat ? 200 : 409);
        if (!inChat) continue;
        expect(await endOf(url, session, turn.number)).toMatchObject({ answer: 'All done.' });
        expect(JSON.stringify(model.requests.at(-1))).toContain('Their reason: No, thanks.');
      }
    });

    test('asks a visitor for a comment as well', async () => {
      script(call(5));
      const node = { id: 'agent', type: 'ai.agent', data: { config: agent({ approval_in_chat: true }) } };
      const { url } = await createChatIn(service, {}, [node]);
      const session = newSession();
      const { body: turn } = await say(url, session, 'Pay back');
      for await (const { event, data } of follow(url, session, turn.number)) {
        if (event !== 'ask') continue;
        expect(data.questions).toMatchObject([{ title: 'pay_back', takes_comment: true }]);
        break;
      }
    });

    test('counts as rejected when nobody decides in time', async () => {
      script(call(6));
      const id = await start({ approval_timeout_s: 1 });
      const ended = await service.finished(id);
      expect(approvalsIn(ended)).toMatchObject([{ decision: 'timed_out', decided_by: null }]);
      expect(paid()).toEqual([]);
    });
  });
});
