import type { IncomingMessage } from 'node:http';
import { HttpClientError, type HttpRequest, type HttpResponse } from '@millrace/engine';
import { saying } from '@millrace/messages/testing';
import { startHttp } from '@millrace/testing/test-server';
import { afterEach, describe, expect, it } from 'vitest';
import { createGuardedHttpClient, type GuardedHttpClient } from './guarded-client.ts';

const clients: GuardedHttpClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

async function send(
  url: string,
  options: Partial<HttpRequest> = {},
): Promise<HttpResponse | HttpClientError> {
  const client = createGuardedHttpClient({ allowHosts: ['127.0.0.1'] });
  clients.push(client);
  const request = {
    method: 'GET',
    url,
    timeoutMs: 20_000,
    maxResponseBytes: 1_000,
    maxRedirects: 3,
    ...options,
  };
  try {
    return await client.send(request, new AbortController().signal);
  } catch (error) {
    if (error instanceof HttpClientError) return error;
    throw error;
  }
}

/** A server that redirects `/start` to `location` and records its requests. */
async function startRedirecting(status: number, location: string | ((port: number) => string)) {
  const seen: {
    method: string | undefined;
    url: string | undefined;
    headers: IncomingMessage['headers'];
    body: string;
  }[] = [];
  const server = await startHttp((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      seen.push({ method: request.method, url: request.url, headers: request.headers, body });
      if (request.url !== '/start') return response.end('there');
      const target = typeof location === 'string' ? location : location(server.port);
      return response.writeHead(status, { location: target }).end('x'.repeat(5_000));
    });
  });
  return { ...server, seen };
}

const CREDENTIALS = {
  Authorization: 'Bearer canary',
  Cookie: 'canary',
  'Proxy-Authorization': 'canary',
  'X-Api-Key': 'canary',
  'X-Anything': 'canary',
  'Idempotency-Key': 'canary',
  Accept: 'application/json',
  'User-Agent': 'me',
};

describe('redirects within an origin', () => {
  it.each([
    [301, 'GET', 'GET'],
    [302, 'HEAD', 'HEAD'],
    [303, 'HEAD', 'HEAD'],
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [301, 'PUT', 'PUT'],
    [302, 'DELETE', 'DELETE'],
    [307, 'POST', 'POST'],
    [308, 'PATCH', 'PATCH'],
  ])('%i turns %s into %s', async (status, method, next) => {
    const server = await startRedirecting(status, '/next?a=b#part');
    const body = method === 'GET' || method === 'HEAD' ? {} : { body: 'data' };
    const headers = { ...CREDENTIALS, 'Content-Type': 'text/plain' };
    await send(`${server.url}/start`, { method, headers, ...body });
    const last = server.seen[1];
    expect(last).toMatchObject({
      method: next,
      url: '/next?a=b',
      headers: { authorization: 'Bearer canary' },
    });
    expect(last?.body).toBe(next === method && 'body' in body ? 'data' : '');
    if (next === 'GET' && method !== 'GET') expect(last?.headers).not.toHaveProperty('content-type');
  });

  it('are returned if none are to be followed', async () => {
    const server = await startRedirecting(302, '/next');
    const answer = await send(`${server.url}/start`, { maxRedirects: 0, maxResponseBytes: 10_000 });
    expect(answer).toMatchObject({ status: 302, headers: { location: '/next' } });
    expect(server.seen).toHaveLength(1);
  });

  it('are counted', async () => {
    const server = await startRedirecting(302, '/start');
    expect(await send(`${server.url}/start`, { maxRedirects: 3 })).toMatchObject({
      code: 'too_many_redirects',
    });
    expect(server.seen).toHaveLength(4);
  });

  it('without a Location are ordinary responses', async () => {
    const server = await startHttp((_request, response) => response.writeHead(302).end('x'));
    expect(await send(server.url)).toMatchObject({ status: 302 });
  });

  it('to an invalid URL fail', async () => {
    const server = await startRedirecting(302, 'http://[');
    expect(await send(`${server.url}/start`)).toMatchObject({ code: 'invalid_url' });
  });
});

describe('redirects to another origin', () => {
  it.each([
    [301, 'GET'],
    [302, 'HEAD'],
    [307, 'GET'],
    [303, 'POST'],
  ])('%i after %s continue without anything that could be a credential', async (status, method) => {
    const other = await startRedirecting(200, '');
    const server = await startRedirecting(status, `${other.url}/other`);
    const body = method === 'POST' ? { body: 'canary' } : {};
    await send(`${server.url}/start`, { method, headers: CREDENTIALS, ...body });
    expect(server.seen[0]?.headers.authorization).toBe('Bearer canary');
    expect(other.seen).toHaveLength(1);
    expect(other.seen[0]?.headers).toMatchObject({ accept: 'application/json', 'user-agent': 'me' });
    expect(JSON.stringify(other.seen)).not.toContain('canary');
  });

  it.each([
    [307, 'POST'],
    [308, 'PUT'],
    [301, 'PATCH'],
    [302, 'DELETE'],
  ])('%i after %s are refused', async (status, method) => {
    const other = await startRedirecting(200, '');
    const server = await startRedirecting(status, `${other.url}/other`);
    const answer = await send(`${server.url}/start`, { method, body: 'data' });
    expect(answer).toMatchObject({
      code: 'target_not_allowed',
      message: saying(`redirects this ${method} request to 127.0.0.1:${other.port}`),
    });
    expect(other.connections()).toBe(0);
  });

  it('are refused for a GET with a body, which was meant for its own host', async () => {
    const other = await startRedirecting(200, '');
    const server = await startRedirecting(302, `${other.url}/other`);
    const answer = await send(`${server.url}/start`, { method: 'GET', body: 'data' });
    expect(server.seen[0]?.body).toBe('data');
    expect(answer).toMatchObject({ code: 'target_not_allowed' });
    expect(other.connections()).toBe(0);
  });

  it("don't restore credentials on the way back", async () => {
    const home = await startRedirecting(302, (port) => `http://127.0.0.1:${port}/next`);
    const away = await startRedirecting(302, `${home.url}/next`);
    const start = await startRedirecting(302, `${away.url}/start`);
    await send(`${start.url}/start`, { headers: CREDENTIALS });
    expect(home.seen[0]?.url).toBe('/next');
    expect(JSON.stringify(home.seen)).not.toContain('canary');
  });

  it.each([
    ['http://169.254.169.254/latest/meta-data', 'target_not_allowed'],
    ['http://[::1]/', 'target_not_allowed'],
    ['http://[::ffff:127.0.0.1]/', 'target_not_allowed'],
    ['//10.0.0.1/', 'target_not_allowed'],
    ['\\\\10.0.0.1\\', 'target_not_allowed'],
    ['http://localhost/', 'target_not_allowed'],
    ['http://0x0a000001/', 'target_not_allowed'],
    ['file:///etc/passwd', 'invalid_url'],
    ['ftp://127.0.0.1/', 'invalid_url'],
    ['http://user:pass@127.0.0.1/', 'invalid_url'],
  ])('are checked again: %s', async (location, code) => {
    const server = await startRedirecting(302, location);
    expect(await send(`${server.url}/start`)).toMatchObject({ code });
    expect(server.seen).toHaveLength(1);
  });
});
