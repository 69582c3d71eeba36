import type { Credential, HttpRequest, JsonObject } from '@millrace/engine';
import { saying } from '@millrace/messages/testing';
import { runNode } from '@millrace/node-kit/testing';
import { expect, test } from 'vitest';
import { nodeOf } from './node-type.ts';
import { services } from './services.ts';

const TOKEN = '123456:canary-0123456789';
const [telegram] = services.filter(({ id }) => id === 'telegram');
const operation = telegram?.operations.find(({ id }) => id === 'send_message');
if (telegram === undefined || operation === undefined) throw new Error('there is no Telegram');
const node = nodeOf(telegram, operation);

const CHAT = { type: 'chat', service: 'telegram', webhook_url: null, token: TOKEN, base_url: null } as const;

async function send(
  credential: Credential,
  more: { readonly isTestMode?: boolean; readonly config?: JsonObject } = {},
) {
  const sent: HttpRequest[] = [];
  const { result } = await runNode(node, {
    credential,
    ...more,
    config: { credential_id: 1, chat_id: '1', text: 'x', ...more.config },
    http: (request) => {
      sent.push(request);
      const body = new TextEncoder().encode('{"ok":true,"result":{"message_id":7}}');
      return { status: 200, headers: { 'content-type': 'application/json' }, body };
    },
  });
  return {
    result,
    urls: sent.map(({ url }) => url),
    headers: sent.flatMap(({ headers = {} }) => Object.keys(headers)),
  };
}

test('the token stands before the path, and in no header', async () => {
  const { urls, headers } = await send(CHAT);
  expect(urls).toEqual([`https://api.telegram.org/bot${TOKEN}/sendMessage`]);
  expect(headers).not.toContain('authorization');
});

test("a server of one's own is where its credential says", async () => {
  const { urls } = await send({ ...CHAT, base_url: 'https://bots.example.com/' });
  expect(urls).toEqual([`https://bots.example.com/bot${TOKEN}/sendMessage`]);
});

test('files are below the same server, with the token where it wants it', async () => {
  const download = telegram?.operations.find(({ id }) => id === 'download_file');
  if (telegram === undefined || download === undefined) throw new Error('there are no files of Telegram');
  for (const [base, root] of [
    [null, 'https://api.telegram.org'],
    ['https://bots.example.com/', 'https://bots.example.com'],
  ] as const) {
    const urls: string[] = [];
    await runNode(nodeOf(telegram, download), {
      credential: { ...CHAT, base_url: base },
      config: { credential_id: 1, file_id: 'f1' },
      http: ({ url }) => {
        urls.push(url);
        const body = new TextEncoder().encode('{"ok":true,"result":{"file_path":"photos/file 1.jpg"}}');
        return { status: 200, headers: { 'content-type': 'application/json' }, body };
      },
    });
    expect(urls).toEqual([
      `${root}/bot${TOKEN}/getFile?file_id=f1`,
      `${root}/file/bot${TOKEN}/photos/file%201.jpg`,
    ]);
  }
});

test('test mode shows the request without the token, and sends nothing', async () => {
  const { result, urls } = await send(CHAT, { isTestMode: true });
  expect(urls).toEqual([]);
  expect(result).toMatchObject({
    output: { request: { url: 'https://api.telegram.org/bot[hidden]/sendMessage' } },
  });
  expect(JSON.stringify(result)).not.toContain(TOKEN);
});

test.each([
  ['another service', { ...CHAT, service: 'slack' as const }],
  ['no token', { ...CHAT, token: null }],
  ['a token that would change the path', { ...CHAT, token: '1:a/../b?c' }],
])('a credential with %s is refused before anything is sent', async (_, credential) => {
  const { result, urls } = await send(credential);
  expect(result).toMatchObject({ kind: 'failure', code: 'invalid_credential', message: saying('Telegram') });
  expect(JSON.stringify(result)).not.toContain('canary');
  expect(urls).toEqual([]);
});

test('without a credential, it says which type is needed', async () => {
  const { result } = await send(CHAT, { config: { credential_id: 0 } });
  expect(result).toMatchObject({ kind: 'failure', message: saying('chat') });
});
