import type { FileValue, HttpRequest, JsonObject, JsonValue } from '@millrace/engine';
import { saying } from '@millrace/messages/testing';
import { runNode } from '@millrace/node-kit/testing';
import { answer } from '@millrace/node-kit/testing-http';
import { expect, it } from 'vitest';
import { nodeOf } from './node-type.ts';
import { services } from './services.ts';

function nodeFor(service: string, id: string) {
  const connector = services.find((each) => each.id === service);
  const operation = connector?.operations.find((each) => each.id === id);
  if (connector === undefined || operation === undefined) throw new Error(`there is no ${service}.${id}`);
  return nodeOf(connector, operation);
}

/** The body of a request; empty if none was sent. */
function textOf(request: HttpRequest | undefined): string {
  return typeof request?.body === 'string' ? request.body : '';
}

/** Files by their names, of so many bytes each. */
function filesOf(content: Uint8Array) {
  const saved: { readonly name: string; readonly bytes: Buffer }[] = [];
  let opened = 0;
  return {
    saved,
    reads: () => opened,
    files: {
      async open(value: JsonValue) {
        const { name, type } = value as { name: string; type: string };
        return {
          ...{ name, type, size: content.length, sha256: null },
          read: async function* () {
            opened += 1;
            yield content;
          },
        };
      },
      async save({ name, type }: { name: string; type: string }, pieces: AsyncIterable<Uint8Array>) {
        const bytes: Uint8Array[] = [];
        for await (const piece of pieces) bytes.push(piece);
        saved.push({ name, bytes: Buffer.concat(bytes) });
        return { $file: 'f1', name, type, size: 0, sha256: '' } satisfies FileValue;
      },
    },
  };
}

const file = (name: string, type = 'application/pdf') => ({
  $file: '0190c0de-0000-7000-8000-000000000001',
  ...{ name, type },
});
const MAIL = { credential_id: 1, to: 'ada@example.com', subject: 'Files', text: 'Here.' };

async function mail(content: Uint8Array, config: JsonObject) {
  const given = filesOf(content);
  const { result, requests } = await runNode(nodeFor('gmail', 'send_message'), {
    credential: { type: 'bearer', token: 'canary-token' },
    http: [answer('{"id":"m1"}')],
    services: { files: given.files as never },
    config: { ...MAIL, ...config },
  });
  const { raw = '' } = JSON.parse(textOf(requests[0]) || '{}') as { raw?: string };
  return { result, requests, source: Buffer.from(raw, 'base64url').toString('utf8'), reads: given.reads() };
}

it('files of the largest size that is taken become lines of base64 in a mail', async () => {
  const content = Buffer.alloc(3_000_000, 251);
  const { result, source } = await mail(content, { attachments: file('a.bin') });
  expect(result).toMatchObject({ kind: 'success' });
  const [, encoded = ''] = /Encoding: base64\n\n([\w+/=\n]+?)\n--/.exec(source) ?? [];
  const lines = encoded.split('\n');
  expect(Math.max(...lines.map(({ length }) => length))).toBe(76);
  expect(Buffer.from(encoded, 'base64').equals(content)).toBe(true);
});

it.each([
  ['sendgrid', 'send_email', { from: 'shop@example.com', content: 'Here.' }, 10_000_000],
  ['microsoft_outlook', 'send_message', { content: 'Here.' }, 3_000_000],
] as const)(
  'files of the largest size that is taken are sent within JSON: %s',
  async (service, id, more, size) => {
    const given = filesOf(Buffer.alloc(size, 7));
    const { result, requests } = await runNode(nodeFor(service, id), {
      credential: { type: 'bearer', token: 'canary-token' },
      http: [answer('', { status: 202 })],
      services: { files: given.files as never },
      config: {
        credential_id: 1,
        to: 'ada@example.com',
        subject: 'Files',
        ...more,
        attachments: [file('a.bin')],
      },
    });
    expect(result).toMatchObject({ kind: 'success' });
    expect(textOf(requests[0]).length).toBeGreaterThan((size * 4) / 3);
  },
);

it('names and types of files add no header', async () => {
  const evil = file('a"\r\nBcc: eve@example.com\r\n.pdf', 'text/plain\r\nBcc: eve@example.com');
  const { source } = await mail(Buffer.from('x'), { attachments: [evil] });
  expect(source).not.toMatch(/^Bcc:/m);
  expect(source).toContain("filename*=utf-8''a%22%0D%0ABcc%3A%20eve%40example.com%0D%0A.pdf");
});

it('a text can not end its part of a mail', async () => {
  const { source } = await mail(Buffer.from('x'), { attachments: file('a.pdf'), text: '--=_millrace--' });
  const [, boundary = ''] = /boundary="([^"]+)"/.exec(source) ?? [];
  expect(source.split(`--${boundary}`)).toHaveLength(4);
});

it.each<[string, number, JsonValue, string]>([
  ['too large together', 1_500_001, [file('a'), file('b')], '3,000,000'],
  ['too many', 1, Array.from({ length: 51 }, () => file('a')), '50'],
])('files that are %s are refused before any is read', async (_, bytes, attachments, word) => {
  const { result, requests, reads } = await mail(Buffer.alloc(bytes), { attachments });
  expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config', message: saying('attachments') });
  expect(JSON.stringify(result)).toContain(word.replaceAll(',', ''));
  expect([requests.length, reads]).toEqual([0, 0]);
});

const DOWNLOAD = { credential_id: 1, message_id: 'm1', attachment_id: 'a1', name: 'a.pdf' };

async function download(data: JsonValue) {
  const given = filesOf(Buffer.alloc(0));
  const { result } = await runNode(nodeFor('gmail', 'download_attachment'), {
    credential: { type: 'bearer', token: 'canary-token' },
    http: [answer(JSON.stringify({ data }))],
    services: { files: given.files as never },
    config: DOWNLOAD,
  });
  return { result, saved: given.saved };
}

it('a file in a response is stored, however long, in either alphabet', async () => {
  const content = Buffer.from(Array.from({ length: 2_000_001 }, (_, at) => (at * 7) % 256));
  for (const encoding of ['base64', 'base64url'] as const) {
    const { saved } = await download(content.toString(encoding));
    expect(saved.map(({ name }) => name)).toEqual(['a.pdf']);
    expect(saved[0]?.bytes.equals(content)).toBe(true);
  }
});

it.each<[string, JsonValue]>([
  ['nothing', null],
  ['something else', 'Hello, world!'],
  ['a number', 7],
])('%s in place of a file is no file', async (_, data) => {
  const { result, saved } = await download(data);
  expect(result).toMatchObject({ kind: 'failure', code: 'invalid_response', message: saying('Gmail') });
  expect(saved).toEqual([]);
});
