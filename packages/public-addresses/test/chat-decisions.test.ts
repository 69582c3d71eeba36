import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorkingService, type WorkingService } from '../../runtime/test/worker/service-with-worker.ts';
import {
  type ChatSettings,
  createChatIn,
  ECHO,
  endOf,
  follow,
  newSession,
  send,
  WAIT,
} from './chat-calls.ts';

let service: WorkingService;
beforeAll(async () => {
  service = await startWorkingService({ limits: { requestsPerMinutePerWebhook: 0 } });
});
afterAll(() => service.stop());

const createChat = (...given: ChatSettings) => createChatIn(service, ...given);

describe('an answer that needs a decision', () => {
  const fields = [
    { label: 'How many', name: 'count', type: 'number', required: true },
    { label: 'Size', name: 'size', type: 'choices', choices: ['S', 'M', 'L'] },
  ];
  const IN_CHAT = {
    ...WAIT,
    data: { config: { title: 'Order {{trigger.data.message}}?', text: 'Today.', fields, in_chat: true } },
  };
  const DONE = {
    id: 'reply',
    type: 'core.set',
    data: {
      config: {
        values: { text: '{{nodes.wait.output.decided_by}} {{nodes.wait.output.values.count}}' },
      },
    },
  };

  interface Question {
    readonly id: number;
  }

  /** What is asked about a message, once something is. */
  async function questionsAbout(url: string, session: string, number: unknown): Promise<readonly Question[]> {
    for await (const { event, data } of follow(url, session, number))
      if (event === 'ask') return data.questions as readonly Question[];
    throw new Error('nothing was asked');
  }

  async function decide(
    url: string,
    session: string,
    number: unknown,
    decision: object,
  ): Promise<{ readonly status: number; readonly body: unknown }> {
    const response = await fetch(`${url}/turns/${String(number)}/decisions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-chat-session': session },
      body: JSON.stringify(decision),
    });
    return { status: response.status, body: await response.json() };
  }

  test('asks the visitor, and goes on with what they decide', async () => {
    const { url } = await createChat({}, [IN_CHAT, DONE]);
    const session = newSession();
    const { body: turn } = await send(url, session, '<bread>');
    const [question, ...others] = await questionsAbout(url, session, turn.number);
    expect(others).toEqual([]);
    expect(question).toMatchObject({
      title: 'Order <bread>?',
      text: 'Today.',
      choices: [
        { id: 'approve', label: 'Approve' },
        { id: 'reject', label: 'Reject' },
      ],
      fields: [
        { name: 'count', type: 'number', required: true },
        { name: 'size', type: 'choices', choices: ['S', 'M', 'L'] },
      ],
    });
    const id = question?.id;
    const given = { id, choice: 'approve', values: { count: ['3'], size: ['S', 'M'] } };
    expect(await decide(url, session, turn.number, { ...given, values: {} })).toMatchObject({
      status: 422,
      body: { faults: [{ name: 'count', fault: expect.any(String) }] },
    });
    expect((await decide(url, session, turn.number, { ...given, choice: 'other' })).status).toBe(422);
    expect((await decide(url, session, turn.number, { id, choice: 'approve', values: [] })).status).toBe(422);
    const [first, second] = await Promise.all([
      decide(url, session, turn.number, given),
      decide(url, session, turn.number, given),
    ]);
    expect(new Set([first.status, second.status])).toEqual(new Set([200, 409]));
    const { answer: text } = await endOf(url, session, turn.number);
    expect(text).toMatch(/^\{"via":"chat","session_id":"[0-9a-f]{32}"\} 3$/);
    expect((await decide(url, session, turn.number, given)).status).toBe(409);
  });

  test('can be made by nobody else: not by another session, nor about another message', async () => {
    const { url } = await createChat({}, [IN_CHAT, DONE]);
    const [session, other] = [newSession(), newSession()];
    const { body: turn } = await send(url, session, 'a');
    const { body: theirs } = await send(url, other, 'b');
    const [question] = await questionsAbout(url, session, turn.number);
    await questionsAbout(url, other, theirs.number);
    const given = { id: question?.id, choice: 'approve', values: { count: ['1'] } };
    expect((await decide(url, other, turn.number, given)).status).toBe(409);
    expect((await decide(url, other, theirs.number, given)).status).toBe(409);
    expect((await decide(url, other, 99, given)).status).toBe(404);
    const elsewhere = await createChat({}, [IN_CHAT, DONE]);
    expect((await decide(elsewhere.url, session, turn.number, given)).status).toBe(404);
    expect((await decide(url, session, turn.number, given)).status).toBe(200);
  });

  test.each([
    ['off', false],
    ['data', '{{trigger.data.number == 1}}'],
  ])('of somebody else is neither shown nor taken: in_chat is %s', async (_, inChat) => {
    const config = { title: 'Secret question', in_chat: inChat };
    const { id, url } = await createChat({}, [{ ...WAIT, data: { config } }, ECHO]);
    const session = newSession();
    const { body: turn } = await send(url, session, 'true');
    const seen: string[] = [];
    for await (const { event, data } of follow(url, session, turn.number)) {
      seen.push(event);
      if (event === 'state' && data.state === 'waiting') break;
    }
    const [row] = await service.database.db.query<{ id: number }>(
      `SELECT c.id FROM callbacks c JOIN executions e ON e.id = c.execution_id WHERE e.workflow_id = $1`,
      [id],
    );
    expect(row).toBeDefined();
    expect(seen).not.toContain('ask');
    const decision = { id: row?.id, choice: 'approve', values: {} };
    expect((await decide(url, session, turn.number, decision)).status).toBe(409);
  });
});
