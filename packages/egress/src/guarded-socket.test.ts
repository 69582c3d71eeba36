import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { HttpClientError } from '@millrace/engine';
import { saying } from '@millrace/messages/testing';
import { startTcp, type TestServer } from '@millrace/testing/test-server';
import { describe, expect, it } from 'vitest';
import { fakeDns } from './fake-dns.ts';
import { createGuardedSockets } from './guarded-socket.ts';

const never = new AbortController().signal;

async function connect(
  host: string,
  port: number,
  allowHosts: readonly string[] = [],
  resolve = fakeDns([]).resolve,
): Promise<Socket> {
  return createGuardedSockets({ allowHosts, resolve }).connect({ host, port }, never);
}

async function refusalOf(connecting: Promise<Socket>): Promise<HttpClientError> {
  const error = await connecting.then(
    (socket) => socket.destroy(),
    (reason: unknown) => reason,
  );
  if (!(error instanceof HttpClientError)) throw new Error(`expected a refusal, got ${String(error)}`);
  return error;
}

/** Greets every connection. */
function startGreeting(): Promise<TestServer> {
  return startTcp((socket) => socket.end('hello'));
}

async function textOf(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket.setEncoding('utf8')) text += String(chunk);
  return text;
}

describe('hosts that are refused', () => {
  it.each([
    '127.0.0.1',
    '127.0.0.1.',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '017700000001',
    '%31%32%37.0.0.1',
    '１２７.０.０.１',
    '①②⑦.⓪.⓪.①',
    '127。0。0。1',
    '0',
    '0.0.0.0',
    '127.255.255.254',
    '::1',
    '[::1]',
    '0:0:0:0:0:0:0:1',
    '::',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:0:127.0.0.1',
    '64:ff9b::127.0.0.1',
    '64:ff9b:1::127.0.0.1',
    '2002:7f00:1::',
    '2001:0:7f00:1::',
    'fe80::1',
    'fec0::1',
    'fd00:ec2::254',
    '169.254.169.254',
    '::ffff:169.254.169.254',
    '168.63.129.16',
    '100.100.100.200',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'db.localhost',
    'ⓛocalhost',
  ])('%j', async (host) => {
    const server = await startGreeting();
    const error = await refusalOf(connect(host, server.port, ['unrelated.example']));
    expect(error.code).toBe('target_not_allowed');
    expect(error.message).toContain('MILLRACE_ALLOW_HOSTS');
    expect(server.connections()).toBe(0);
  });

  it.each([
    ['', 25],
    ['/var/run/docker.sock', 25],
    ['example.com/path', 25],
    ['user@example.com', 25],
    ['example.com#', 25],
    ['example.com?', 25],
    ['example.com\\x', 25],
    ['exa mple.com', 25],
    ['\n127.0.0.1', 25],
    ['fe80::1%eth0', 25],
    ['example.com:99', 25],
    ['db.example.com', 0],
    ['db.example.com', 65_536],
    ['db.example.com', 1.5],
  ])('is not a valid target: %j %s', async (host, port) => {
    expect((await refusalOf(connect(host, port, ['0.0.0.0/0', '::/0']))).code).toBe('invalid_url');
  });
});

describe('what the operator allows', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.1:PORT', '127.0.0.1'],
    ['127.0.0.0/8', '0x7f.1'],
    ['intern.example', 'intern.example'],
    ['intern.example', 'INTERN.example.'],
    ['intern.example:PORT', 'intern.example'],
    ['*.example', 'intern.example'],
    ['127.0.0.0/8', 'intern.example'],
    ['localhost', 'localhost'],
  ])('%s opens %s', async (allow, host) => {
    const server = await startGreeting();
    const entry = allow.replace('PORT', String(server.port));
    expect(await textOf(await connect(host, server.port, [entry], fakeDns(['127.0.0.1']).resolve))).toBe(
      'hello',
    );
  });

  it.each([
    ['intern.example:1', 'intern.example'],
    ['127.0.0.2', 'intern.example'],
    ['127.0.0.1', 'localhost'],
    ['127.0.0.1', '::ffff:127.0.0.1'],
  ])('%s does not open %s', async (allow, host) => {
    const server = await startGreeting();
    const error = await refusalOf(connect(host, server.port, [allow], fakeDns(['127.0.0.1']).resolve));
    expect(error.code).toBe('target_not_allowed');
    expect(server.connections()).toBe(0);
  });

  it('port 80 is a port like any other', async () => {
    const error = await refusalOf(connect('10.0.0.1', 80));
    expect(error.message).toContain('10.0.0.1 (port 80)');
  });
});

describe('what a name resolves to', () => {
  it.each([
    [['127.0.0.1']],
    [['169.254.169.254']],
    [['::1']],
    [['::ffff:127.0.0.1']],
    [['64:ff9b::7f00:1']],
    [['fd00::1']],
    [['93.184.215.14', '127.0.0.1']],
  ])('is checked: %j', async (addresses) => {
    const server = await startGreeting();
    const error = await refusalOf(connect('public.example', server.port, [], fakeDns(addresses).resolve));
    expect(error.code).toBe('target_not_allowed');
    for (const address of addresses) expect(error.message).not.toContain(address);
    expect(server.connections()).toBe(0);
  });

  it('is resolved once per connection, so a later change to a private address never connects', async () => {
    const server = await startGreeting();
    // 127.0.0.1 plays the public address: only it is allowed here.
    const dns = fakeDns(['127.0.0.1'], ['127.0.0.2']);
    const sockets = createGuardedSockets({ allowHosts: ['127.0.0.1'], resolve: dns.resolve });
    const target = { host: 'rebind.example', port: server.port };
    expect(await textOf(await sockets.connect(target, never))).toBe('hello');
    expect(dns.asked()).toBe(1);
    expect((await refusalOf(sockets.connect(target, never))).code).toBe('target_not_allowed');
    expect(server.connections()).toBe(1);
  });

  it('may be empty', async () => {
    const error = await refusalOf(connect('gone.example', 25));
    expect(error).toMatchObject({ code: 'connection_failed', message: saying('resolved') });
  });
});

describe('the peer of a connection', () => {
  async function connectTo(remoteAddress: string | undefined): Promise<{ outcome: unknown; socket: Socket }> {
    const fake = Object.assign(new EventEmitter(), { remoteAddress, isDestroyed: false, destroy: destroyed });
    function destroyed(): void {
      fake.isDestroyed = true;
    }
    const socket = fake as unknown as Socket;
    const sockets = createGuardedSockets(
      { allowHosts: [], resolve: fakeDns(['93.184.215.14']).resolve },
      (() => {
        queueMicrotask(() => fake.emit('connect'));
        return socket;
      }) as never,
    );
    const outcome = await sockets
      .connect({ host: 'public.example', port: 25 }, never)
      .catch((error: unknown) => error);
    return { outcome, socket: fake as unknown as Socket };
  }

  it.each(['127.0.0.1', '::ffff:10.0.0.1', '::1', undefined])('is checked again: %s', async (address) => {
    const { outcome, socket } = await connectTo(address);
    expect(outcome).toMatchObject({ code: 'target_not_allowed' });
    expect(socket).toMatchObject({ isDestroyed: true });
  });

  it('is accepted if it is public', async () => {
    const { outcome, socket } = await connectTo('93.184.215.14');
    expect(outcome).toBe(socket);
    expect(socket).toMatchObject({ isDestroyed: false });
  });
});

describe("a connection that can't be established", () => {
  it('is not started if already aborted', async () => {
    const server = await startGreeting();
    const sockets = createGuardedSockets({ allowHosts: ['127.0.0.1'] });
    const connecting = sockets.connect({ host: '127.0.0.1', port: server.port }, AbortSignal.abort());
    expect((await refusalOf(connecting)).code).toBe('aborted');
    expect(server.connections()).toBe(0);
  });

  it('ends when its time is over, including TLS', async () => {
    // Accepts, and never responds to the TLS ClientHello.
    const server = await startTcp(() => undefined);
    const sockets = createGuardedSockets({ allowHosts: ['127.0.0.1'], connectTimeoutMs: 50 });
    const target = { host: '127.0.0.1', port: server.port, tls: { isVerified: false } };
    expect((await refusalOf(sockets.connect(target, never))).code).toBe('timeout');
  });

  it('ends when it is aborted', async () => {
    const aborter = new AbortController();
    const server = await startTcp((socket) => socket.once('data', () => aborter.abort()));
    const sockets = createGuardedSockets({ allowHosts: ['127.0.0.1'] });
    const target = { host: '127.0.0.1', port: server.port, tls: { isVerified: false } };
    expect((await refusalOf(sockets.connect(target, aborter.signal))).code).toBe('aborted');
  });

  it("reports that the other side doesn't speak TLS", async () => {
    const server = await startTcp((socket) => socket.end('220 mail.example ESMTP\r\n'));
    const sockets = createGuardedSockets({ allowHosts: ['127.0.0.1'] });
    const target = { host: '127.0.0.1', port: server.port, tls: { isVerified: false } };
    expect(await refusalOf(sockets.connect(target, never))).toMatchObject({ code: 'connection_failed' });
  });
});
