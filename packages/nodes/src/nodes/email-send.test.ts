import { type FileService, type JsonObject, type MailMessage, ServiceError } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { type RunOptions, runNode } from '@millrace/node-kit/testing';
import { memoryFiles } from '@millrace/node-kit/testing-files';
import { describe, expect, it } from 'vitest';
import { MAX_ATTACHMENT_BYTES } from '../mail/config.ts';
import { emailSend } from './email-send.ts';

const credential = {
  type: 'smtp',
  host: 'smtp.example.com',
  port: 587,
  security: 'starttls',
  username: 'shop',
  password: 's3cret-canary',
} as const;

async function send(config: JsonObject, options: Omit<RunOptions, 'config'> = {}) {
  const messages: MailMessage[] = [];
  const { result } = await runNode(emailSend, {
    credential,
    services: {
      mail: {
        async send(given, message) {
          expect(given).toBe(credential);
          messages.push(message);
          return { accepted: ['ada@example.org'], rejected: ['bob@example.org'], response: '250 queued' };
        },
      },
    },
    ...options,
    config: {
      credential_id: 4,
      from: 'shop@example.com',
      to: 'ada@example.org',
      subject: 'Hello',
      text: 'Hi',
      ...config,
    },
  });
  return { result, message: messages[0], messages };
}

describe('email.send: the message', () => {
  it('is what the settings say', async () => {
    const { result, message } = await send(
      {
        from: 'Shop <shop@example.com>',
        to: ['ada@example.org', 'Bob <bob@example.org>'],
        cc: 'carol@example.org, "Dan, D." <dan@example.org>',
        bcc: ['eve@example.org'],
        reply_to: 'help@example.com',
        html: '<p>Hi</p>',
      },
      { idempotencyKey: '17-abc' },
    );
    expect(message).toEqual({
      from: '"Shop" <shop@example.com>',
      to: ['ada@example.org', '"Bob" <bob@example.org>'],
      cc: ['carol@example.org', '"Dan, D." <dan@example.org>'],
      bcc: ['eve@example.org'],
      replyTo: 'help@example.com',
      subject: 'Hello',
      text: 'Hi',
      html: '<p>Hi</p>',
      headers: { 'Idempotency-Key': '17-abc' },
      attachments: [],
      messageId: '<17-abc@example.com>',
    });
    expect(result).toMatchObject({
      kind: 'success',
      output: {
        message_id: '<17-abc@example.com>',
        accepted: ['ada@example.org'],
        rejected: ['bob@example.org'],
        response: '250 queued',
      },
    });
  });

  it('has one id for all attempts, and another for every other key', async () => {
    const idOf = async (idempotencyKey: string, attempt: number) =>
      (await send({}, { idempotencyKey, attempt })).message?.messageId;
    expect(await idOf('a', 1)).toBe(await idOf('a', 2));
    const odd = ['a b', 'a>b', 'a@b', 'a\r\nb', 'a(b)', 'a%20b', 'ä', 'a'];
    const ids = await Promise.all(odd.map((key) => idOf(key, 1)));
    expect(new Set(ids).size).toBe(odd.length);
    for (const id of ids) expect(id).toMatch(/^<[A-Za-z0-9%._-]+@example\.com>$/);
  });

  it('has attachments', async () => {
    const { message } = await send({
      attachments: [
        { filename: 'a.csv', content_type: 'text/csv; charset=utf-8', content: 'ä' },
        { filename: 'b.bin', base64: '/w A=\n' },
      ],
    });
    expect(message?.attachments).toEqual([
      { filename: 'a.csv', contentType: 'text/csv; charset=utf-8', content: new Uint8Array([0xc3, 0xa4]) },
      { filename: 'b.bin', contentType: 'application/octet-stream', content: new Uint8Array([0xff, 0x00]) },
    ]);
  });

  it('attaches files of the execution, one or several', async () => {
    const orders = { $file: '00000000-0000-4000-8000-000000000001', name: 'made up.exe' };
    const note = { $file: '00000000-0000-4000-8000-000000000002' };
    const { message } = await send({ files: [note, orders], attachments: [{ filename: 'a', content: 'x' }] });
    expect(message?.attachments.map(({ filename }) => filename)).toEqual(['a', 'note.txt', 'orders.csv']);
    expect(message?.attachments[1]).toEqual({
      filename: 'note.txt',
      contentType: 'text/plain',
      content: new TextEncoder().encode('Hello'),
    });
    expect((await send({ files: note, text: '' })).message?.attachments).toHaveLength(1);
  });

  it('reads no file if all together are too large', async () => {
    let reads = 0;
    const files = memoryFiles();
    const open: FileService['open'] = async (value) => ({
      ...(await files.open(value)),
      size: 6 * 1024 * 1024,
      async *read() {
        reads += 1;
        yield new Uint8Array();
      },
    });
    const note = { $file: '00000000-0000-4000-8000-000000000002' };
    const { result } = await send({ files: [note, note] }, { services: { files: { ...files, open } } });
    expect([result, reads]).toEqual([expect.objectContaining({ code: 'invalid_config' }), 0]);
  });

  it.each([
    ['ada@example.org', ['ada@example.org']],
    [' ada@example.org , , bob@example.org,', ['ada@example.org', 'bob@example.org']],
    ['<ada@example.org>', ['ada@example.org']],
    ['Ada Lovelace <ada@example.org>', ['"Ada Lovelace" <ada@example.org>']],
    ['"a\\"b" <ada@example.org>', ['"a\\"b" <ada@example.org>']],
    ["o'hara+tag@sub.example.co.uk", ["o'hara+tag@sub.example.co.uk"]],
    ['päl@exämple.org', ['päl@exämple.org']],
  ])('goes to %s', async (to, expected) => {
    expect((await send({ to })).message?.to).toEqual(expected);
  });
});

describe('email.send: refused before sending', () => {
  const tooLarge = 'A'.repeat(Math.ceil((MAX_ATTACHMENT_BYTES + 3) / 3) * 4);

  it.each<[JsonObject]>([
    [{ to: '' }],
    [{ to: [], cc: '', bcc: [] }],
    [{ to: 'nobody' }],
    [{ to: 'a@b' }],
    [{ to: '@example.org' }],
    [{ to: 'a b@example.org' }],
    [{ to: 'a@@example.org' }],
    [{ to: 'a@example..org' }],
    [{ to: 'a@-example.org' }],
    [{ to: '"a@evil.org "@example.org' }],
    [{ to: 'x <a@example.org> <b@example.org>' }],
    [{ to: 'a@example.org\r\nBcc: eve@example.org' }],
    [{ to: 'Ada\r\nBcc: eve@example.org <a@example.org>' }],
    [{ to: 'Ada\u0000 <a@example.org>' }],
    [{ to: `${'a'.repeat(65)}@example.org` }],
    [{ cc: ['bad'] }],
    [{ bcc: 'bad' }],
    [{ from: '' }],
    [{ from: 'a@example.org, b@example.org' }],
    [{ from: 'Shop\n<shop@example.com>' }],
    [{ reply_to: 'a@example.org, b@example.org' }],
    [{ reply_to: 'a@example.org\nX: y' }],
    [{ subject: 'Hello\r\nBcc: eve@example.org' }],
    [{ subject: 'Hello\u0085' }],
    [{ text: '' }],
    [{ attachments: [{ content: 'x' }] }],
    [{ attachments: [{ filename: 'a\r\nb', content: 'x' }] }],
    [{ attachments: [{ filename: 'a', content_type: 'text/html\r\nX: y', content: 'x' }] }],
    [{ attachments: [{ filename: 'a', base64: 'not base64!' }] }],
    [{ attachments: [{ filename: 'a', content: 'x', base64: 'AAAA' }] }],
    [{ attachments: [{ filename: 'a', path: '/etc/passwd' }] }],
    [{ attachments: [{ filename: 'a', base64: tooLarge }] }],
    [{ files: ['a.txt'] }],
    [{ files: 'a.txt' }],
    [{ to: Array.from({ length: 501 }, (_, index) => `a${index}@example.org`).join(',') }],
    [{ credential_id: 0 }],
  ])('%#', async (config) => {
    const { result, messages } = await send(config);
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config', retryable: false });
    expect(messages).toEqual([]);
  });
});

describe('email.send: the outcome', () => {
  it('is a failure if nobody was accepted', async () => {
    const mail = { send: async () => ({ accepted: [], rejected: ['ada@example.org'], response: '550 no' }) };
    expect((await send({}, { services: { mail } })).result).toMatchObject({
      kind: 'failure',
      code: 'mail_rejected',
      output: { rejected: ['ada@example.org'] },
    });
  });

  it('is what the service reports', async () => {
    const error = new ServiceError('mail_refused', verbatim('busy'), { retryable: true });
    const mail = { send: () => Promise.reject(error) };
    expect((await send({}, { services: { mail } })).result).toMatchObject({
      code: 'mail_refused',
      retryable: true,
    });
  });

  it('in test mode is the message, and nothing is sent', async () => {
    const attachments = [{ filename: 'a.txt', content: 'hello' }];
    const { result, messages } = await send({ attachments, bcc: 'eve@example.org' }, { isTestMode: true });
    expect(messages).toEqual([]);
    expect(result).toMatchObject({
      kind: 'success',
      output: {
        dry_run: true,
        request: {
          message_id: '<execution-1-node@example.com>',
          to: ['ada@example.org'],
          bcc: ['eve@example.org'],
          text: 'Hi',
          attachments: [{ filename: 'a.txt', bytes: 5, base64: 'aGVsbG8=' }],
        },
      },
    });
    expect(JSON.stringify(result)).not.toContain('canary');
  });
});

describe('email.send: with a token', () => {
  const oauth = { type: 'oauth2' } as never;
  const config = { mailbox: 'shop@example.com', server: 'smtp.example.com' };

  async function sendBy(more: JsonObject, refuses: number, better: boolean) {
    const servers: unknown[] = [];
    const tokens: unknown[] = [];
    const { result } = await runNode(emailSend, {
      credential: oauth,
      services: {
        credentials: {
          async token(_id: number, use: unknown) {
            tokens.push(use);
            if (tokens.length > 1 && !better) return null;
            return { text: `token-${tokens.length}`, generation: tokens.length };
          },
        } as never,
        mail: {
          async send(server) {
            servers.push(server);
            if (servers.length > refuses)
              return { accepted: ['ada@example.org'], rejected: [], response: '250' };
            throw new ServiceError('mail_auth_failed', verbatim('no'));
          },
        },
      },
      config: {
        credential_id: 4,
        from: 'a@example.com',
        to: 'b@example.com',
        subject: 's',
        text: 't',
        ...config,
        ...more,
      },
    });
    return { result, servers, tokens };
  }

  it('signs in as the mailbox at the server that the credential is bound to', async () => {
    const { result, servers, tokens } = await sendBy({}, 0, false);
    expect(result).toMatchObject({ kind: 'success' });
    expect(tokens).toEqual([{ url: 'https://smtp.example.com:587/' }]);
    const login = { username: 'shop@example.com', password: null, accessToken: 'token-1' };
    expect(servers).toEqual([{ host: 'smtp.example.com', port: 587, security: 'starttls', ...login }]);
  });

  it('encrypts from the first byte on port 465', async () => {
    const { servers } = await sendBy({ server: 'smtp.example.com:465' }, 0, false);
    expect(servers).toMatchObject([{ port: 465, security: 'tls' }]);
  });

  it('tries a token that is newer than the one that was refused, once', async () => {
    const { result, servers, tokens } = await sendBy({}, 1, true);
    expect(result).toMatchObject({ kind: 'success' });
    expect(servers).toMatchObject([{ accessToken: 'token-1' }, { accessToken: 'token-2' }]);
    expect(tokens[1]).toMatchObject({ refused: { generation: 1 } });
    expect((await sendBy({}, 9, true)).servers).toHaveLength(2);
    expect((await sendBy({}, 9, false)).servers).toHaveLength(1);
  });

  it.each([{ server: '' }, { mailbox: '' }, { server: 'https://smtp.example.com' }])(
    'refuses %j',
    async (wrong) => {
      const { result, servers } = await sendBy(wrong, 0, false);
      expect([result, servers]).toMatchObject([{ kind: 'failure', code: 'invalid_config' }, []]);
    },
  );
});
