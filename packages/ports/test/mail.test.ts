import type { AddressInfo } from 'node:net';
import { createGuardedSockets } from '@millrace/egress/guarded-socket';
import type { CredentialOf, MailMessage, ServiceError } from '@millrace/engine';
import type { Caller } from '@millrace/runtime/node-services';
import { startTcp } from '@millrace/testing/test-server';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, describe, expect, it } from 'vitest';
import { createMailService } from '../src/mail.ts';
import { TEST_CERTIFICATE, TEST_KEY, trustTestCertificate } from './certificate.ts';

type Smtp = CredentialOf<'smtp'>;
const PASSWORD = 's3cret-canary';
const never = new AbortController().signal;
const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

interface Received {
  readonly envelope: { readonly from: string; readonly to: readonly string[] };
  readonly text: string;
  readonly isSecure: boolean;
  readonly user: string | undefined;
}

/** A real SMTP server on loopback that requires the user `ada` with the password. */
async function startSmtp(options: SMTPServerOptions = {}) {
  const received: Received[] = [];
  const server = new SMTPServer({
    key: TEST_KEY,
    cert: TEST_CERTIFICATE,
    logger: false,
    onAuth: ({ username, password }, _session, callback) =>
      username === 'ada' && password === PASSWORD
        ? callback(null, { user: 'ada' })
        : callback(new Error(`Invalid login for ${username} with ${password}`)),
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          envelope: {
            from: mailFrom === false ? '' : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
          },
          text: Buffer.concat(chunks).toString('utf8'),
          isSecure: session.secure,
          user: session.user,
        });
        callback(null, 'queued as 1');
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUps.push(() => new Promise<void>((resolve) => server.close(resolve)));
  const { port } = server.server.address() as AddressInfo;
  return { port, received };
}

const sockets = createGuardedSockets({
  allowHosts: ['127.0.0.1'],
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
});
const mail = createMailService({ sockets: () => sockets })({} as Caller);

function credential(port: number, given: Partial<Smtp> = {}): Smtp {
  return {
    type: 'smtp',
    host: 'service.test',
    port,
    security: 'starttls',
    username: 'ada',
    password: PASSWORD,
    ...given,
  };
}

const message: MailMessage = {
  from: '"Shop" <shop@example.com>',
  to: ['ada@example.org', '"Bob, B." <bob@example.org>'],
  cc: ['carol@example.org'],
  bcc: ['dan@example.org'],
  replyTo: 'help@example.com',
  subject: 'Rechnung für Zoë',
  text: 'Hello\n.\nWorld',
  html: '<p>Hello</p>',
  headers: { 'Idempotency-Key': 'key-1' },
  attachments: [
    { filename: 'a.bin', contentType: 'application/x-test', content: new Uint8Array([0, 255, 13, 10]) },
  ],
  messageId: '<key-1@example.com>',
};

async function errorOf(sending: Promise<unknown>): Promise<ServiceError> {
  const error = await sending.then(
    (value) => new Error(`sent: ${JSON.stringify(value)}`),
    (reason: unknown) => reason as ServiceError,
  );
  expect(`${error.message} ${JSON.stringify(error)}`).not.toContain(PASSWORD);
  return error as ServiceError;
}

describe('sending', () => {
  it.each(['starttls', 'tls'] as const)('is encrypted and signed in with %s', async (security) => {
    cleanUps.push(trustTestCertificate());
    const server = await startSmtp({ secure: security === 'tls' });
    const answer = await mail.send(credential(server.port, { security }), message, never);
    expect(answer).toEqual({
      accepted: ['ada@example.org', 'bob@example.org', 'carol@example.org', 'dan@example.org'],
      rejected: [],
      response: expect.stringContaining('queued as 1'),
    });
    expect(server.received).toHaveLength(1);
    expect(server.received[0]).toMatchObject({
      isSecure: true,
      user: 'ada',
      envelope: { from: 'shop@example.com', to: answer.accepted },
    });
  });

  it('signs in with a token (XOAUTH2), and says when it is not accepted', async () => {
    cleanUps.push(trustTestCertificate());
    const server = await startSmtp({
      authMethods: ['XOAUTH2'],
      onAuth: ({ username, accessToken }, _session, callback) =>
        callback(null, accessToken === PASSWORD ? { user: username ?? '' } : { data: { status: '401' } }),
    });
    const login = { ...credential(server.port, { password: null }), accessToken: PASSWORD };
    await mail.send(login, message, never);
    expect(server.received[0]).toMatchObject({ isSecure: true, user: 'ada' });
    const refused = await errorOf(mail.send({ ...login, accessToken: 'old-canary' }, message, never));
    expect(refused).toMatchObject({
      code: 'mail_auth_failed',
      explanation: { key: 'ports.token_sign_in_refused' },
    });
    expect(refused.message).not.toContain('canary');
  });

  it('accepts a certificate for the address if the host is one', async () => {
    cleanUps.push(trustTestCertificate());
    const server = await startSmtp();
    await mail.send(credential(server.port, { host: '127.0.0.1' }), message, never);
    expect(server.received[0]).toMatchObject({ isSecure: true });
  });

  it('sends the message, and hides blind copies', async () => {
    const server = await startSmtp({ authOptional: true });
    await mail.send(credential(server.port, { security: 'none', username: null }), message, never);
    const text = server.received[0]?.text ?? '';
    for (const line of [
      'From: Shop <shop@example.com>',
      'To: ada@example.org, "Bob, B." <bob@example.org>',
      'Cc: carol@example.org',
      'Reply-To: help@example.com',
      'Message-ID: <key-1@example.com>',
      'Idempotency-Key: key-1',
      'Content-Type: application/x-test; name=a.bin',
      'AP8NCg==',
      'Hello\r\n.\r\nWorld',
    ]) {
      expect(text).toContain(line);
    }
    expect(text).not.toContain('dan@example.org');
    expect(server.received[0]).toMatchObject({ isSecure: false, user: undefined });
  });

  it('reports who was not accepted', async () => {
    const server = await startSmtp({
      authOptional: true,
      onRcptTo: ({ address }, _session, callback) =>
        callback(
          address.startsWith('ada') ? Object.assign(new Error('No such user'), { responseCode: 550 }) : null,
        ),
    });
    const answer = await mail.send(
      credential(server.port, { security: 'none', username: null }),
      message,
      never,
    );
    expect(answer).toMatchObject({
      accepted: expect.not.arrayContaining(['ada@example.org']),
      rejected: ['ada@example.org'],
    });
    expect(server.received[0]?.envelope.to).toHaveLength(3);
  });
});

describe('encryption', () => {
  it.each(['starttls', 'tls'] as const)('with %s requires a trusted certificate', async (security) => {
    const server = await startSmtp({ secure: security === 'tls' });
    const error = await errorOf(mail.send(credential(server.port, { security }), message, never));
    expect(error).toMatchObject({ code: 'mail_tls_failed', retryable: false });
    expect(error.message).toContain('self-signed');
    expect(server.received).toEqual([]);
  });

  it.each(['starttls', 'tls'] as const)('with %s requires a certificate for that host', async (security) => {
    cleanUps.push(trustTestCertificate());
    const server = await startSmtp({ secure: security === 'tls' });
    const error = await errorOf(
      mail.send(credential(server.port, { security, host: 'other.test' }), message, never),
    );
    expect(error).toMatchObject({ code: 'mail_tls_failed', retryable: false });
    expect(server.received).toEqual([]);
  });

  it('is never skipped if the server offers none', async () => {
    const server = await startSmtp({
      hideSTARTTLS: true,
      disabledCommands: ['STARTTLS'],
      authOptional: true,
    });
    const error = await errorOf(mail.send(credential(server.port), message, never));
    expect(error).toMatchObject({ code: 'mail_tls_failed', retryable: false });
    expect(server.received).toEqual([]);
  });
});

describe('failures', () => {
  const plain = { security: 'none', username: null } as const;

  it("a wrong password is reported without the server's words", async () => {
    cleanUps.push(trustTestCertificate());
    const server = await startSmtp();
    const error = await errorOf(mail.send(credential(server.port, { username: 'eve' }), message, never));
    expect(error).toMatchObject({ code: 'mail_auth_failed', retryable: false });
    expect(error.message).toContain('service.test');
    expect(server.received).toEqual([]);
  });

  it.each([
    ['538 5.7.11 Encryption required for requested authentication mechanism', 538],
    ['530 5.7.0 Must issue a STARTTLS command first', 530],
  ])('%s is reported as what it is, not as a wrong password', async (reply, status) => {
    const server = await startTcp((socket) => {
      socket.write('220 mail.test ESMTP\r\n');
      socket.on('data', (data) => {
        socket.write(
          /^EHLO/i.test(data.toString()) ? '250-mail.test\r\n250 AUTH PLAIN LOGIN\r\n' : `${reply}\r\n`,
        );
      });
    });
    const error = await errorOf(mail.send(credential(server.port, { security: 'none' }), message, never));
    expect(error).toMatchObject({ code: 'mail_tls_failed', retryable: false, details: { status } });
    expect(error.message).toContain('starttls or tls');
  });

  it.each([
    [450, true],
    [550, false],
  ])('%i for every recipient can be retried: %s', async (responseCode, retryable) => {
    const server = await startSmtp({
      authOptional: true,
      onRcptTo: (_address, _session, callback) => callback(Object.assign(new Error('No'), { responseCode })),
    });
    const error = await errorOf(mail.send(credential(server.port, plain), message, never));
    expect(error).toMatchObject({
      code: 'mail_rejected',
      retryable,
      details: { status: responseCode, rejected: expect.arrayContaining(['ada@example.org']) },
    });
  });

  it.each([
    [451, true],
    [552, false],
  ])('%i for the message can be retried: %s', async (responseCode, retryable) => {
    const server = await startSmtp({
      authOptional: true,
      onData(stream, _session, callback) {
        stream.resume().once('end', () => callback(Object.assign(new Error('No'), { responseCode })));
      },
    });
    const error = await errorOf(mail.send(credential(server.port, plain), message, never));
    expect(error).toMatchObject({ code: 'mail_refused', retryable, details: { status: responseCode } });
  });

  it('a server that refuses or hangs up can be retried', async () => {
    const server = await startTcp((socket) => socket.end('421 too busy\r\n'));
    const busy = await errorOf(mail.send(credential(server.port, plain), message, never));
    expect(busy).toMatchObject({ retryable: true, code: expect.stringMatching(/^mail_/) });
    const silent = await startTcp((socket) => socket.destroy());
    expect(await errorOf(mail.send(credential(silent.port, plain), message, never))).toMatchObject({
      code: 'mail_connection_failed',
      retryable: true,
    });
  });

  it('a server that says nothing times out', async () => {
    const server = await startTcp(() => undefined);
    const impatient = createMailService({ sockets: () => sockets, silenceMs: 50 })({} as Caller);
    expect(await errorOf(impatient.send(credential(server.port, plain), message, never))).toMatchObject({
      code: 'mail_connection_failed',
      retryable: true,
    });
  });

  it('an abort ends it', async () => {
    const aborter = new AbortController();
    const server = await startTcp(() => aborter.abort());
    expect(await errorOf(mail.send(credential(server.port, plain), message, aborter.signal))).toMatchObject({
      code: 'aborted',
      retryable: true,
    });
  });

  it('a private host is not connected to', async () => {
    const server = await startSmtp({ authOptional: true });
    const strict = createMailService({ sockets: () => createGuardedSockets({ allowHosts: [] }) })(
      {} as Caller,
    );
    const sending = strict.send(credential(server.port, { ...plain, host: '127.0.0.1' }), message, never);
    expect(await errorOf(sending)).toMatchObject({ code: 'target_not_allowed', retryable: false });
  });
});
