import { randomBytes } from 'node:crypto';
import type { JsonObject } from '@millrace/engine';
import { expect } from 'vitest';
import type { WorkingService } from '../../runtime/test/worker/service-with-worker.ts';

export const ECHO = {
  id: 'reply',
  type: 'core.set',
  data: { config: { values: { text: 'You said: {{trigger.data.message}}' } } },
};

/** Saves a workflow that starts with a chat, and returns its id and the address of the page. */
export async function createChatIn(
  service: WorkingService,
  config: JsonObject = {},
  nodes: readonly ChatNode[] = [ECHO],
  more: object = {},
): Promise<{ readonly id: number; readonly url: string }> {
  const chain = ['chat', ...nodes.map(({ id }) => id)];
  const id = await service.createWorkflow(
    {
      nodes: [
        {
          id: 'chat',
          type: 'trigger.chat',
          data: { config: { title: 'Ask <us>', messages_per_minute: 0, ...config } },
        },
        ...nodes,
      ],
      edges: chain.slice(1).map((target, index) => ({
        source: chain[index],
        target,
        ...(chain[index] === 'wait' ? { sourceHandle: 'approve' } : {}),
      })),
    },
    more,
  );
  const [row] = await service.database.db.query<{ hash: string }>(
    'SELECT webhook_hash AS hash FROM workflows WHERE id = $1',
    [id],
  );
  return { id, url: `${service.url}/api/v1/chat/${row?.hash ?? ''}` };
}

/** What {@link createChatIn} is given besides the service. */
export type ChatSettings = Parameters<typeof createChatIn> extends [unknown, ...infer Rest] ? Rest : never;

/** Waits for a decision that nobody makes. */
export const WAIT = { id: 'wait', type: 'wait.approval', data: { config: { title: 'May it?' } } };

/** A node that follows the one before. */
export interface ChatNode {
  readonly id: string;
  readonly type: string;
  readonly data: object;
}

export interface Reply {
  readonly status: number;
  readonly body: { readonly [name: string]: unknown };
  readonly headers: Headers;
}

export const newSession = () => randomBytes(32).toString('base64url');
export const newId = () => randomBytes(16).toString('base64url');

export async function send(url: string, session: string, text: string, id = newId()): Promise<Reply> {
  const response = await fetch(`${url}/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-chat-session': session },
    body: JSON.stringify({ message_id: id, message: text }),
  });
  return {
    status: response.status,
    body: (await response.json()) as Reply['body'],
    headers: response.headers,
  };
}

export interface Turn {
  readonly number: number;
  readonly message: string;
  readonly outcome: string | null;
  readonly answer: string | null;
}

export async function turnsOf(url: string, session: string): Promise<readonly Turn[]> {
  const response = await fetch(`${url}/turns`, { headers: { 'x-chat-session': session } });
  return ((await response.json()) as { turns: readonly Turn[] }).turns;
}

export interface ChatEvent {
  readonly event: string;
  readonly data: { readonly [name: string]: unknown };
}

/** The events of a turn, as they arrive. */
export async function* follow(url: string, session: string, number: unknown): AsyncGenerator<ChatEvent> {
  const response = await fetch(`${url}/turns/${String(number)}/events`, {
    headers: { 'x-chat-session': session, accept: 'text/event-stream' },
  });
  expect(response.status).toBe(200);
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      if (event !== undefined && data !== undefined)
        yield { event, data: JSON.parse(data) as ChatEvent['data'] };
    }
  }
}

export async function endOf(url: string, session: string, number: unknown): Promise<ChatEvent['data']> {
  for await (const { event, data } of follow(url, session, number)) if (event === 'end') return data;
  throw new Error('the stream ended before the answer');
}
