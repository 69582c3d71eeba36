import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { HttpClientError, type HttpResponse } from '@millrace/engine';
import { saying } from '@millrace/messages/testing';
import { startHttp, type TestServer } from '@millrace/testing/test-server';
import { afterEach, describe, expect, it } from 'vitest';
import { createGuardedConnector } from './connector.ts';
import { fakeDns } from './fake-dns.ts';
import { createGuardedHttpClient, type GuardedHttpClient } from './guarded-client.ts';
import { createTargetPolicy } from './target-policy.ts';

const clients: GuardedHttpClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

function get(
  url: string,
  allowHosts: readonly string[],
  resolve = fakeDns([]).resolve,
): Promise<HttpResponse> {
  const client = createGuardedHttpClient({ allowHosts, resolve });
  clients.push(client);
  const request = { method: 'GET', url, timeoutMs: 20_000, maxResponseBytes: 1_000, maxRedirects: 3 };
  return client.send(request, new AbortController().signal);
}

async function refusalOf(sending: Promise<unknown>): Promise<HttpClientError> {
  const error = await sending.then(
    (answer) => answer,
    (reason: unknown) => reason,
  );
  if (!(error instanceof HttpClientError))
    throw new Error(`expected a refusal, got ${JSON.stringify(error)}`);
  return error;
}

async function startCounting(host?: string): Promise<TestServer> {
  return startHttp((_request, response) => {
    response.setHeader('connection', 'close');
    response.end('reached');
  }, host);
}

describe('spellings of targets that are refused', () => {
  const spellings = [
    'http://127.0.0.1:PORT/',
    'http://127.0.0.1.:PORT/',
    'http://127.1:PORT/',
    'http://127.0.1:PORT/',
    'http://2130706433:PORT/',
    'http://0x7f000001:PORT/',
    'http://0x7f.0.0.1:PORT/',
    'http://0177.0.0.1:PORT/',
    'http://017700000001:PORT/',
    'http://0x7F.0x0.0x0.0x1:PORT/',
    'http://%31%32%37.0.0.1:PORT/',
    'http://１２７.０.０.１:PORT/',
    'http://①②⑦.⓪.⓪.①:PORT/',
    'http://127。0。0。1:PORT/',
    'http:\\\\127.0.0.1:PORT\\',
    'http:127.0.0.1:PORT/',
    ' http://127.0.0.1:PORT/\n',
    'http://127.0.0.1:PORT#@example.com/',
    'http://0:PORT/',
    'http://0.0.0.0:PORT/',
    'http://127.255.255.254:PORT/',
    'http://[::1]:PORT/',
    'http://[0:0:0:0:0:0:0:1]:PORT/',
    'http://[::]:PORT/',
    'http://[::127.0.0.1]:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://[::ffff:7f00:1]:PORT/',
    'http://[::ffff:0:127.0.0.1]:PORT/',
    'http://[64:ff9b::127.0.0.1]:PORT/',
    'http://[64:ff9b:1::127.0.0.1]:PORT/',
    'http://[2002:7f00:1::]:PORT/',
    'http://[2001:0:7f00:1::]:PORT/',
    'http://[fe80::1]:PORT/',
    'http://[fec0::1]:PORT/',
    'http://[fd00:ec2::254]/latest/meta-data',
    'http://169.254.169.254/latest/meta-data',
    'http://[::ffff:169.254.169.254]/latest/meta-data',
    'http://168.63.129.16/',
    'http://100.100.100.200/',
    'http://10.0.0.1/',
    'http://172.16.0.1/',
    'http://192.168.1.1/',
    'http://198.18.0.1/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://localhost:PORT/',
    'http://LOCALHOST:PORT/',
    'http://localhost.:PORT/',
    'http://app.localhost:PORT/',
    'http://ⓛocalhost:PORT/',
    'https://localhost:PORT/',
  ];

  it.each(spellings)('%j', async (spelling) => {
    const server = await startCounting();
    const error = await refusalOf(get(spelling.replace('PORT', String(server.port)), ['unrelated.example']));
    expect(error.code).toBe('target_not_allowed');
    expect(error.message).toContain('MILLRACE_ALLOW_HOSTS');
    expect(server.connections()).toBe(0);
  });

  it.each([
    'ftp://example.com/',
    'file:///etc/passwd',
    'unix:/var/run/docker.sock',
    'data:text/plain,x',
    'gopher://127.0.0.1:6379/_INFO',
    'http://user:pass@example.com/',
    'http://user@example.com/',
    'http://[fe80::1%25eth0]/',
    'http://',
    'example.com',
    '//example.com',
    '',
  ])("can't be called: %j", async (url) => {
    expect((await refusalOf(get(url, ['0.0.0.0/0', '::/0']))).code).toBe('invalid_url');
  });

  it('reports the host and how to allow it', async () => {
    const error = await refusalOf(get('http://[::1]:81/', []));
    expect(error.message).toContain('[::1] (port 81)');
    expect(error.message).toContain('adding [::1] to MILLRACE_ALLOW_HOSTS');
  });
});

describe('what the operator allows', () => {
  it.each([
    [['127.0.0.1'], 'http://127.0.0.1:PORT/'],
    [['127.0.0.1:PORT'], 'http://127.0.0.1:PORT/'],
    [['127.0.0.0/8'], 'http://0x7f.1:PORT/'],
    [['intern.example'], 'http://intern.example:PORT/'],
    [['intern.example'], 'http://INTERN.example.:PORT/'],
    [['intern.example:PORT'], 'http://intern.example:PORT/'],
    [['*.example'], 'http://intern.example:PORT/'],
    [['127.0.0.0/8'], 'http://intern.example:PORT/'],
    [['localhost'], 'http://localhost:PORT/'],
    [['*.localhost'], 'http://app.localhost:PORT/'],
  ])('%j opens %s', async (allow, url) => {
    const server = await startCounting();
    const withPort = (text: string): string => text.replace('PORT', String(server.port));
    const answer = await get(withPort(url), allow.map(withPort), fakeDns(['127.0.0.1']).resolve);
    expect(new TextDecoder().decode(answer.body)).toBe('reached');
  });

  it.each([
    [['intern.example:1'], 'http://intern.example:PORT/'],
    [['*.intern.example'], 'http://intern.example:PORT/'],
    [['intern.example'], 'http://other.example:PORT/'],
    [['127.0.0.2'], 'http://intern.example:PORT/'],
    [['127.0.0.1'], 'http://localhost:PORT/'],
    [['127.0.0.1'], 'http://[::ffff:127.0.0.1]:PORT/'],
  ])('%j does not open %s', async (allow, url) => {
    const server = await startCounting();
    const sending = get(url.replace('PORT', String(server.port)), allow, fakeDns(['127.0.0.1']).resolve);
    expect((await refusalOf(sending)).code).toBe('target_not_allowed');
    expect(server.connections()).toBe(0);
  });
});

describe('what a name resolves to', () => {
  it.each([
    ['127.0.0.1'],
    ['169.254.169.254'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['64:ff9b::7f00:1'],
    ['fd00::1'],
  ])('is checked: %s', async (address) => {
    const server = await startCounting();
    const url = `http://public.example:${server.port}/`;
    const error = await refusalOf(get(url, [], fakeDns([address]).resolve));
    expect(error).toMatchObject({
      code: 'target_not_allowed',
      message: saying('public.example'),
    });
    // The author learns that it is internal, but not its address.
    expect(error.message).not.toContain(address);
    expect(server.connections()).toBe(0);
  });

  it('is refused if a single address is private', async () => {
    const server = await startCounting();
    const { resolve } = fakeDns(['93.184.215.14', '127.0.0.1']);
    const error = await refusalOf(get(`http://mixed.example:${server.port}/`, [], resolve));
    expect(error.code).toBe('target_not_allowed');
    expect(server.connections()).toBe(0);
  });

  it('is resolved once per connection, so a later change to a private address never connects', async () => {
    // 127.0.0.2 plays the public address: only it is allowed here.
    const outside = await startCounting('127.0.0.2');
    const inside = await startHttp((_request, response) => response.end('inside'), '127.0.0.1');
    const dns = fakeDns(['127.0.0.2'], ['127.0.0.1']);
    const client = createGuardedHttpClient({ allowHosts: ['127.0.0.2'], resolve: dns.resolve });
    clients.push(client);
    const send = (port: number) =>
      client.send(
        {
          method: 'GET',
          url: `http://rebind.example:${port}/`,
          timeoutMs: 20_000,
          maxResponseBytes: 100,
          maxRedirects: 0,
        },
        new AbortController().signal,
      );
    expect(new TextDecoder().decode((await send(outside.port)).body)).toBe('reached');
    expect(dns.asked()).toBe(1);
    expect((await refusalOf(send(inside.port))).code).toBe('target_not_allowed');
    expect((await refusalOf(send(outside.port))).code).toBe('target_not_allowed');
    expect(dns.asked()).toBe(3);
    expect(inside.connections()).toBe(0);
    expect(outside.connections()).toBe(1);
  });
});

describe('the peer of a connection', () => {
  const policy = createTargetPolicy([]);
  const origin = new URL('http://public.example/');

  function connectTo(
    remoteAddress: string | undefined,
  ): Promise<{ error: Error | null; isDestroyed: boolean }> {
    const state = { isDestroyed: false };
    const socket = Object.assign(new EventEmitter(), {
      remoteAddress,
      destroy: () => (state.isDestroyed = true),
    });
    const connector = createGuardedConnector(
      origin,
      policy,
      { resolve: fakeDns(['93.184.215.14']).resolve, connectTimeoutMs: 1_000 },
      () => (_options, callback) => callback(null, socket as unknown as Socket),
    );
    const options = { hostname: 'public.example', protocol: 'http:', port: '80' };
    return new Promise((resolve) => connector(options, (...[error]) => resolve({ error, ...state })));
  }

  it.each(['127.0.0.1', '::ffff:10.0.0.1', '::1', undefined])('is checked again: %s', async (address) => {
    const { error, isDestroyed } = await connectTo(address);
    expect(error).toMatchObject({ code: 'target_not_allowed' });
    expect(isDestroyed).toBe(true);
  });

  it('is accepted if it is public', async () => {
    expect(await connectTo('93.184.215.14')).toEqual({ error: null, isDestroyed: false });
  });
});
