import { randomBytes } from 'node:crypto';
import type { JsonObject } from '@millrace/engine';
import { createNotifier, type ExecutionNotifier } from '@millrace/runtime/notifier';
import { addModelCredential } from '@millrace/testing/model-credential';
import { type ModelServer, type ModelServerOptions, startModelServer } from '@millrace/testing/model-server';
import type { ModelAnswer } from '@millrace/testing/model-server-types';
import { createTestServices } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorkingService, type WorkingService } from '../../runtime/test/worker/service-with-worker.ts';
import {
  type ChatEvent,
  type ChatSettings,
  createChatIn,
  ECHO,
  endOf,
  follow,
  newId,
  newSession,
  send,
  turnsOf,
  WAIT,
} from './chat-calls.ts';

let service: WorkingService;
let model: ModelServer;
let answer: ModelServerOptions['answer'];
let credentialId: number;
let notifier: ExecutionNotifier;
let made: ReturnType<typeof createTestServices>;
beforeAll(async () => {
  model = await startModelServer({ answer: (request) => answer(request) });
  const secretKeys = { current: randomBytes(32), previous: [] };
  service = await startWorkingService({
    withWorker: false,
    limits: { requestsPerMinutePerWebhook: 0 },
    config: { allowHosts: [model.host], secretKeys },
  });
  // The worker shares nothing with the process that pages are connected to, except the database.
  notifier = createNotifier(service.deps.db, service.deps.log);
  await notifier.start();
  made = createTestServices({ ...service.deps, notifier });
  await service.startWorker({}, { ...made, notifier });
  const fields = { provider: 'anthropic', base_url: model.baseUrl('anthropic'), api_key: 'sk-of-the-test' };
  credentialId = await addModelCredential(service, service.key.organisationId, fields);
});
afterAll(async () => {
  await service.stop();
  await made.services.close();
  await notifier.close();
  await model.close();
});

const createChat = (...given: ChatSettings) => createChatIn(service, ...given);

const ask = (config: object = {}) => ({
  id: 'agent',
  type: 'ai.generate',
  data: {
    config: {
      credential_id: credentialId,
      model: 'claude-sonnet-4-5',
      prompt: '{{trigger.data.message}}',
      ...config,
    },
  },
});

/** Sends a message and returns its answer. */
async function say(url: string, session: string, text: string): Promise<unknown> {
  const { status, body } = await send(url, session, text);
  expect([status, body.problem]).toEqual([202, undefined]);
  const { outcome, answer: said } = await endOf(url, session, body.number);
  expect(outcome).toBe('answered');
  return said;
}

async function inputsOf(workflowId: number): Promise<JsonObject[]> {
  const rows = await service.database.db.query<{ input: string }>(
    'SELECT input::text AS input FROM executions WHERE workflow_id = $1 ORDER BY id',
    [workflowId],
  );
  return rows.map(({ input }) => JSON.parse(input) as JsonObject);
}

describe('the page', () => {
  test('shows texts of the author, escaped, runs its own script only, and is shown in no frame', async () => {
    const { url } = await createChat({ greeting: 'Hello "you"', suggestions: ['Why & how?'] });
    const response = await fetch(url);
    const html = await response.text();
    expect(response.status).toBe(200);
    expect(html).toContain('<h1>Ask &lt;us&gt;</h1>');
    expect(html).toContain('Hello &quot;you&quot;');
    expect(html).toContain('<button type="button">Why &amp; how?</button>');
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; connect-src 'self'; .*require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors 'none'$/,
    );
    expect(response.headers.get('x-frame-options')).toBe('DENY');
  });

  test('is in the language of the author, or of the reader', async () => {
    const { url } = await createChat();
    const html = async (at: string) => (await fetch(at, { headers: { 'accept-language': 'ja' } })).text();
    expect(await html(url)).toContain('<html lang="ja">');
    expect(await html((await createChat({ language: 'en' })).url)).toContain('<html lang="en">');
  });

  test('may be shown by the websites that its author lists, which get a script for it', async () => {
    const { url } = await createChat({ allowed_origins: ['https://shop.example.com'] });
    const page = await fetch(url);
    expect(page.headers.get('content-security-policy')).toMatch(
      /; frame-ancestors https:\/\/shop\.example\.com$/,
    );
    expect(page.headers.get('x-frame-options')).toBeNull();
    const script = await fetch(`${url}/embed.js`);
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(script.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    const text = await script.text();
    expect(text).toContain('"isAllowed":true,"url":"https://flows.example/api/v1/chat/');
    const closed = await createChat();
    expect(await (await fetch(`${closed.url}/embed.js`)).text()).toContain('"isAllowed":false');
  });

  test.each([
    ['unknown', () => Promise.resolve(`${service.url}/api/v1/chat/${'x'.repeat(43)}`)],
    [
      'inactive',
      async () => {
        const { id, url } = await createChat();
        await service.api('PUT', `/workflows/${id}`, { key: service.key, body: { status: 'inactive' } });
        return url;
      },
    ],
  ])('404: %s', async (_name, address) => {
    const url = await address();
    expect((await fetch(url)).status).toBe(404);
    expect((await send(url, newSession(), 'Hello')).status).toBe(404);
  });
});

describe('a message', () => {
  test('starts one execution and is answered with the text of the last node', async () => {
    const { id, url } = await createChat();
    const session = newSession();
    expect(await say(url, session, ' Hello\r\nthere ')).toBe('You said: Hello\nthere');
    const [input] = await inputsOf(id);
    expect(input).toMatchObject({ message: 'Hello\nthere', number: 1 });
    expect(input?.session_id).toMatch(/^[0-9a-f]{32}$/);
    expect(JSON.stringify(input)).not.toContain(session);
    const [row] = await service.database.db.query<{ trigger_type: string }>(
      'SELECT trigger_type FROM executions WHERE workflow_id = $1',
      [id],
    );
    expect(row?.trigger_type).toBe('chat');
  });

  test('starts an execution at the chat of a workflow that has other triggers, and no second chat', async () => {
    const { id, url } = await createChat();
    const chat = (name: string) => ({ id: name, type: 'trigger.chat', data: { config: { title: 'Ask' } } });
    const change = (...chats: ReturnType<typeof chat>[]) => {
      const starts = [{ id: 'manual', type: 'trigger.manual' }, ...chats];
      const edges = starts.map((start) => ({ source: start.id, target: 'reply' }));
      const body = { flow_data: { nodes: [...starts, ECHO], edges }, status: 'active' };
      return service.api('PUT', `/workflows/${id}`, { key: service.key, body });
    };
    expect((await change(chat('chat'), chat('second'))).text).toContain('same_address');
    expect((await change(chat('chat'))).status).toBe(200);
    expect(await say(url, newSession(), 'Hello')).toBe('You said: Hello');
    const rows = await service.database.db.query<{ id: number }>('SELECT max(id) AS id FROM executions');
    const { json } = await service.api('GET', `/executions/${rows[0]?.id}`, { key: service.key });
    expect(json.node_outputs).toMatchObject({ chat: { status: 'success' }, manual: { status: 'skipped' } });
  });

  test('sent again, or ten times at once, starts nothing more', async () => {
    const { id, url } = await createChat();
    const session = newSession();
    const messageId = newId();
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => send(url, session, 'Hello', messageId)),
    );
    expect(replies.map(({ status, body }) => [status, body.number])).toEqual(replies.map(() => [202, 1]));
    expect((await send(url, session, 'Hello', messageId)).body).toEqual({ number: 1 });
    await endOf(url, session, 1);
    expect(await inputsOf(id)).toHaveLength(1);
    expect((await send(url, newSession(), 'Hello', messageId)).status).toBe(202);
    expect(await inputsOf(id)).toHaveLength(2);
  });

  test.each<[string, unknown, number]>([
    ['nothing', { message_id: newId(), message: '  ' }, 422],
    ['too long', { message_id: newId(), message: 'x'.repeat(11) }, 422],
    ['without an id', { message: 'x' }, 422],
    ['no object', [1], 422],
    ['far too long', { message_id: newId(), message: 'x'.repeat(200_000) }, 413],
  ])('refused: %s', async (_name, body, status) => {
    const { id, url } = await createChat({ message_chars: 10 });
    const response = await fetch(`${url}/messages`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-chat-session': newSession(),
        'accept-language': 'ja',
      },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(status);
    expect(((await response.json()) as { problem: string }).problem).toMatch(/。$/);
    expect(await inputsOf(id)).toEqual([]);
  });

  test('without a session is refused', async () => {
    const { url } = await createChat();
    const response = await fetch(`${url}/turns`);
    expect(response.status).toBe(400);
  });

  test('is limited for each address and session, and each conversation has an end', async () => {
    const { id, url } = await createChat({ messages_per_minute: 2 });
    for (let n = 0; n < 2; n += 1) expect((await send(url, newSession(), 'x')).status).toBe(202);
    const refused = await send(url, newSession(), 'x');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await inputsOf(id)).toHaveLength(2);
    const short = await createChat({ messages_per_session: 1 });
    const session = newSession();
    await say(short.url, session, 'x');
    expect(await send(short.url, session, 'y')).toMatchObject({ status: 409, body: { ends: true } });
    const few = await createChat({ sessions_per_hour: 1 });
    await say(few.url, session, 'x');
    expect((await send(few.url, newSession(), 'y')).status).toBe(429);
    expect(await say(few.url, session, 'z')).toBe('You said: z');
  });

  test('waits for its turn while three of its conversation are answered', async () => {
    const { url } = await createChat({}, [WAIT, ECHO]);
    const session = newSession();
    for (let n = 0; n < 3; n += 1) expect((await send(url, session, String(n))).status).toBe(202);
    expect((await send(url, session, 'x')).status).toBe(429);
    expect((await send(url, newSession(), 'x')).status).toBe(202);
  });

  test('of a paused organisation is not taken, and can be sent again', async () => {
    const { url } = await createChat();
    const { db } = service.database;
    const session = newSession();
    const messageId = newId();
    await db.query('UPDATE organisations SET paused_at = now() WHERE id = $1', [service.key.organisationId]);
    const refused = await send(url, session, 'Hello', messageId);
    await db.query('UPDATE organisations SET paused_at = NULL WHERE id = $1', [service.key.organisationId]);
    expect(refused.status).toBe(503);
    expect(refused.body.problem).toMatch(/^Your message couldn't be taken just now\./);
    expect((await send(url, session, 'Hello', messageId)).status).toBe(202);
  });
});

describe('the answer', () => {
  test('is what the trigger says', async () => {
    const { url } = await createChat({ answer: '{{nodes.reply.output.text}} ({{trigger.data.number}})' });
    const session = newSession();
    expect(await say(url, session, 'a')).toBe('You said: a (1)');
    expect(await say(url, session, 'b')).toBe('You said: b (2)');
  });

  test('of a workflow that fails or says nothing is kind', async () => {
    const failing = await createChat({}, [
      { id: 'no', type: 'core.fail', data: { config: { message: 'secret' } } },
    ]);
    const session = newSession();
    const { body } = await send(failing.url, session, 'x');
    expect(await endOf(failing.url, session, body.number)).toEqual({
      outcome: 'failed',
      files: [],
      answer:
        'Sorry, something went wrong and there is no answer. Send the message again, or put it another way.',
    });
    const silent = await createChat({}, []);
    expect(await say(silent.url, session, 'x')).toBe('Done.');
  });

  test('that waits for somebody says so', async () => {
    const { url } = await createChat({}, [WAIT, ECHO]);
    const session = newSession();
    const { body } = await send(url, session, 'x');
    for await (const { event, data } of follow(url, session, body.number))
      if (event === 'state' && data.state === 'waiting') return;
    throw new Error('it never waited');
  });

  test('arrives while the model writes it, and a reload finds it again', async () => {
    let go: () => void = () => {};
    const gone = new Promise<void>((resolve) => {
      go = resolve;
    });
    answer = () => ({ text: ['The mill ', 'is ', 'open.'], pauseAfter: { events: 4, until: gone } });
    const { url } = await createChat({}, [ask()]);
    const session = newSession();
    const { body } = await send(url, session, 'Is it open?');
    const seen: string[] = [];
    for await (const { event, data } of follow(url, session, body.number)) {
      if (event === 'text') {
        seen.push(String(data.text));
        // A second reader, as after a reload.
        for await (const again of follow(url, session, body.number))
          if (again.event === 'text') {
            expect(again.data).toMatchObject({ from: 0 });
            break;
          }
        go();
      }
      if (event === 'end')
        expect(data).toEqual({ outcome: 'answered', answer: 'The mill is open.', files: [] });
    }
    expect(seen.join('')).toMatch(/^The mill (is )?/);
    expect(await turnsOf(url, session)).toMatchObject([
      { number: 1, message: 'Is it open?', outcome: 'answered', answer: 'The mill is open.' },
    ]);
    const streams = await service.database.db.query('SELECT FROM chat_streams WHERE organisation_id = $1', [
      service.key.organisationId,
    ]);
    expect(streams).toEqual([]);
  });

  test('never shows what another node writes, nor the key of the provider', async () => {
    const first = { ...ask({ prompt: 'Classify: {{trigger.data.message}}' }), id: 'classify' };
    const seen = Promise.withResolvers<void>();
    const beside: ModelAnswer = { text: ['Shown', '.'], pauseAfter: { events: 4, until: seen.promise } };
    /** What was written before another conversation began has been stored, if ever, once that one shows a text. */
    const othersAreShown = async () => {
      const other = await createChat({}, [ask()]);
      const session = newSession();
      const { body } = await send(other.url, session, 'Beside');
      for await (const { event } of follow(other.url, session, body.number)) if (event === 'text') return;
      throw new Error('the other conversation showed nothing');
    };
    /** Writes the first of these, and the others once it would have been seen. */
    const inPieces = (...text: readonly string[]): ModelAnswer => {
      const { promise: until, resolve } = Promise.withResolvers<void>();
      return { text, pauseAfter: { events: 4, until, onReached: () => resolve(othersAreShown()) } };
    };
    answer = ({ messages }) => {
      const said = messages[0]?.text ?? '';
      if (said === 'Beside') return beside;
      return said.startsWith('Classify')
        ? inPieces('inter', 'nal')
        : inPieces('My key is sk-of-', 'the-test', '!');
    };
    const { url } = await createChat({}, [first, ask()]);
    const session = newSession();
    const { body } = await send(url, session, 'x');
    const events: ChatEvent[] = [];
    for await (const each of follow(url, session, body.number)) events.push(each);
    seen.resolve();
    expect(JSON.stringify(events)).not.toMatch(/inter|sk-of/);
    expect(events.at(-1)).toMatchObject({ event: 'end', data: { answer: 'My key is ***!' } });
  });
});

describe('a conversation', () => {
  test('is read by the browser that has its secret, and by no other', async () => {
    const { url } = await createChat();
    const [mine, theirs] = [newSession(), newSession()];
    await say(url, mine, 'Hello');
    expect(await turnsOf(url, mine)).toHaveLength(1);
    expect(await turnsOf(url, theirs)).toEqual([]);
    const events = await fetch(`${url}/turns/1/events`, {
      headers: { 'x-chat-session': theirs, accept: 'text/event-stream' },
    });
    expect(events.status).toBe(404);
    const other = await createChat();
    expect(await turnsOf(other.url, mine)).toEqual([]);
    const [row] = await service.database.db.query<{ stored: string }>(
      `SELECT json_agg(s)::text AS stored FROM chat_sessions s`,
    );
    expect(row?.stored).not.toContain(mine);
    expect(service.logs.join('')).not.toContain(mine);
    expect(service.logs.join('')).not.toContain(new URL(url).pathname.split('/').at(-1));
  });

  test('goes with its executions', async () => {
    const { id, url } = await createChat();
    const session = newSession();
    await say(url, session, 'Hello');
    await service.database.db.query('DELETE FROM executions WHERE workflow_id = $1', [id]);
    expect(await turnsOf(url, session)).toEqual([]);
    const left = await service.database.db.query('SELECT FROM chat_turns WHERE workflow_id = $1', [id]);
    expect(left).toEqual([]);
  });

  test('is remembered by the model, word for word at first and then as a summary', async () => {
    const asked: string[][] = [];
    answer = ({ messages, system }) => {
      asked.push([system, ...messages.map(({ text }) => text)]);
      return system.startsWith('You keep the notes') ? 'They counted.' : `Answer ${asked.length}`;
    };
    const memory = { memory_key: '{{trigger.data.session_id}}', memory_turns: 2, memory_summary: true };
    const { url } = await createChat({}, [ask({ system: 'Be kind.', ...memory })]);
    const session = newSession();
    for (const text of ['one', 'two', 'three', 'four']) await say(url, session, text);
    expect(asked[0]).toEqual(['Be kind.', 'one']);
    expect(asked[1]).toEqual(['Be kind.', 'one', 'Answer 1', 'two']);
    expect(asked[2]).toEqual(['Be kind.', 'one', 'Answer 1', 'two', 'Answer 2', 'three']);
    expect(asked[3]?.[1]).toBe('Notes so far:\n(none)\n\nConversation:\nUser: one\nAssistant: Answer 1');
    expect(asked[4]?.[0]).toMatch(/^Be kind\.\n\nSummary of the conversation .*\nThey counted\.$/);
    expect(asked[4]?.slice(1)).toEqual(['two', 'Answer 2', 'three', 'Answer 3', 'four']);
    // Another conversation starts afresh.
    const before = asked.length;
    await say(url, newSession(), 'five');
    expect(asked[before]).toEqual(['Be kind.', 'five']);
  });
});
