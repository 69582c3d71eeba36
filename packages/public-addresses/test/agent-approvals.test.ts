import { randomBytes } from 'node:crypto';
import type { JsonObject } from '@millrace/engine';
import { listDecidedApprovals, listPendingApprovals } from '@millrace/service/callbacks/store';
import { decideApproval } from '@millrace/service/callbacks/use';
import { createPerson } from '@millrace/testing/admin';
import { send } from '@millrace/testing/api';
import { startMcpServer } from '@millrace/testing/mcp-server';
import { addModelCredential } from '@millrace/testing/model-credential';
import {
  type ModelAnswer,
  type ModelServer,
  type ModelServerOptions,
  startModelServer,
} from '@millrace/testing/model-server';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
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
    config: { allowHosts: ['127.0.0.1'], secretKeys: { current: randomBytes(32), previous: [] } },
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

const DETAIL = 'GET /orgs/:org/executions/:execution';

/** An execution as its page shows it. */
async function detailOf(id: number) {
  const { organisationId } = service.key;
  const viewer = await createPerson(service as never, 'viewer', { organisationId });
  const { data } = await viewer.call(DETAIL, { params: { org: organisationId, execution: id } });
  return data;
}

async function rerun(id: number, body: JsonObject): Promise<number> {
  const { organisationId } = service.key;
  const editor = await createPerson(service as never, 'editor', { organisationId });
  const params = { org: organisationId, execution: id };
  const answer = await editor.call('POST /orgs/:org/executions/:execution/rerun', { params, body } as never);
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.data.execution_id;
}

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

    test('is rejected whatever stands in the arguments', async () => {
      for (const isByLink of [true, false]) {
        script(call(3));
        const ask = `${path}-ask-${String(isByLink)}`;
        const request = { url: receiver.url(ask), body: { url: '{{args.approval_url}}' } };
        const id = await start({ approval_request: request }, { approval_edit: true });
        const { body } = (await receiver.arrival(ask, 1))[0] as { body: { url: string } };
        const link = service.url + body.url.slice('https://flows.example'.length);
        const { id: approval } = await pendingOf(id);
        if (isByLink) {
          const buttons = [...(await send(link, 'GET')).text.matchAll(/<button [^>]*value="(\w+)"[^>]*>/g)];
          expect(buttons.map(([tag, choice]) => [choice, tag.includes('formnovalidate')])).toEqual([
            ['approve', false],
            ['reject', true],
          ]);
          const given = new URLSearchParams({ choice: 'reject', 'field.arguments 1': '{"order": ' });
          const headers = { 'content-type': 'application/x-www-form-urlencoded' };
          expect((await send(link, 'POST', { raw: given.toString(), headers })).status).toBe(200);
        } else {
          expect(await decide(approval, 'reject', { 'arguments 1': '' })).toBe('accepted');
        }
        await service.finished(id);
        expect(paid()).toEqual([]);
      }
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
      expect((await detailOf(id)).decisions).toMatchObject([{ title: 'pay_back', decision: null }]);
    });

    test('is shown with its execution: who decided, when, and what', async () => {
      script(call(1, 2));
      const id = await start();
      const { id: approval } = await pendingOf(id);
      expect((await detailOf(id)).decisions).toEqual([]);
      await decide(approval, 'approve', { 'call 1': true, 'call 2': false }, 'Only the first.');
      await service.finished(id);
      const { approvals, decisions } = await detailOf(id);
      expect(approvals).toEqual([]);
      expect(decisions).toMatchObject([
        {
          ...{ id: approval, node_id: 'agent', title: 'pay_back' },
          message: expect.stringContaining('1. pay_back'),
          decision: {
            ...{
              choice: 'approve',
              comment: 'Only the first.',
              via: 'member',
              decided_by: 'ada@example.org',
            },
            decided_at: expect.stringMatching(/^\d{4}-/),
            values: { 'call 1': true, 'call 2': false },
          },
        },
      ]);
      const stranger = await createPerson(service as never, 'viewer');
      const params = { org: stranger.organisationId, execution: id };
      expect((await stranger.call(DETAIL, { params })).status).toBe(404);
    });

    test('is asked about again by a rerun from the start, and kept by one from the failed node', async () => {
      script(call(1));
      const nodes: Parameters<typeof flowOf>[0] = [
        ['agent', 'ai.agent', { config: agent() }],
        ['after', 'core.fail', { config: { message: 'Not yet.' } }],
      ];
      const workflow = await service.createWorkflow(flowOf(nodes, ['start>agent', 'agent>after']));
      const id = await service.execute(workflow);
      await decide((await pendingOf(id)).id, 'approve', {}, 'fine');
      expect((await service.finished(id)).status).toBe('failed');
      const asked = model.requests.length;
      const again = await rerun(id, { from: 'failed_node' });
      const kept = await service.finished(again);
      expect([kept.status, paid().length, model.requests.length - asked]).toEqual(['failed', 1, 0]);
      // Who decided is in the output that it keeps; nobody was asked in this execution.
      expect(approvalsIn(kept)).toMatchObject([{ decision: 'approved', reason: 'fine' }]);
      expect((await detailOf(again)).decisions).toEqual([]);
      script(call(1));
      const anew = await rerun(id, { from: 'start' });
      await decide((await pendingOf(anew)).id, 'reject', {}, 'Not twice.');
      const ended = await service.finished(anew);
      expect(approvalsIn(ended)).toMatchObject([{ decision: 'rejected', reason: 'Not twice.' }]);
      expect(paid()).toHaveLength(1);
    });

    test('of an MCP server is made once after the approval, and never after a rejection', async () => {
      const inputSchema = { type: 'object', properties: { article: { type: 'string' } } };
      const mcp = await startMcpServer({
        tools: [
          { name: 'look_up', inputSchema },
          { name: 'drop', inputSchema },
        ],
        call: (name) => ({ content: [{ type: 'text', text: `${name} done` }] }),
      });
      onTestFinished(() => mcp.close());
      const server = { name: 'stock', url: mcp.url, tools: ['look_up', 'drop'] };
      const config = {
        ...{ tools: [], max_steps: 5 },
        mcp_servers: [{ ...server, approval: 'always', approval_tools: ['drop'] }],
      };
      const calls = (name: string): ModelAnswer => ({
        toolCalls: [{ name, arguments: { article: 'A-17' } }],
      });
      script(calls('stock_look_up'), calls('stock_drop'), calls('stock_drop'));
      const id = await start(config);
      const { id: approval, title } = await pendingOf(id);
      expect(title).toBe('stock_drop');
      expect(mcp.calls).toEqual([{ name: 'look_up', arguments: { article: 'A-17' } }]);
      // No session is kept open for as long as a person takes.
      expect(mcp.requests.at(-1)?.method).toBe('DELETE');
      await decide(approval, 'approve');
      await decide((await pendingOf(id, approval)).id, 'reject', {}, 'Once is enough.');
      const ended = await service.finished(id);
      expect(ended.status).toBe('completed');
      expect(mcp.calls.map(({ name }) => name)).toEqual(['look_up', 'drop']);
      expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('drop done');
      expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('Once is enough.');
    });
  });
});
