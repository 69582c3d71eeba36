import type { HostWait } from '@millrace/engine';
import { startHttp } from '@millrace/testing/test-server';
import { afterEach, expect, it } from 'vitest';
import { createEgress, type Egress } from './egress.ts';

const LIMITS = { processCalls: 0, organisationCalls: 1, organisationRate: 0, maxPauseMs: 60_000 };
const NEVER = new AbortController().signal;

let egress: Egress;
afterEach(() => egress.close());

/** A call that isn't made unless it can be at once. */
function impatient(): HostWait & { readonly putOffs: string[] } {
  const putOffs: string[] = [];
  return {
    putOffs,
    maxWaitMs: 0,
    begin: () => () => {},
    putOff: (host) => void putOffs.push(host),
    checkLease: () => {},
  };
}

const get = (url: string, headers: { [name: string]: string } = {}) => ({
  ...{ method: 'GET', url, headers, timeoutMs: 60_000, maxResponseBytes: 10_000, maxRedirects: 5 },
});

it('a call counts until its response was read, and then another one is made', async () => {
  const received = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const { url, port } = await startHttp((_request, response) => {
    received.resolve();
    response.flushHeaders();
    void answer.promise.then(() => response.end('done'));
  });
  egress = createEgress(['127.0.0.1'], async () => null, LIMITS);
  const first = egress.http(1).send(get(url), NEVER);
  await received.promise;
  const wait = impatient();
  await expect(egress.http(1).send(get(url), NEVER, undefined, wait)).rejects.toMatchObject({
    code: 'aborted',
  });
  expect(wait.putOffs).toEqual([`127.0.0.1:${port}`]);
  const second = egress.http(1).send(get(url), NEVER);
  const others = egress.http(2).send(get(url), NEVER);
  answer.resolve();
  const bodies = (await Promise.all([first, second, others])).map(({ body }) => Buffer.from(body).toString());
  expect(bodies).toEqual(['done', 'done', 'done']);
  expect(egress.hosts.state).toEqual({ calls: 0, waiting: 0, putOff: 1, pauses: 0 });
});

it('a redirect is a call to where it leads', async () => {
  let atTarget = 0;
  const target = await startHttp((_request, response) => {
    atTarget = egress.hosts.state.calls;
    response.end('there');
  });
  const { url } = await startHttp((_request, response) => {
    response.writeHead(302, { location: target.url });
    response.end();
  });
  egress = createEgress(['127.0.0.1'], async () => null, LIMITS);
  expect((await egress.http(1).send(get(url), NEVER)).status).toBe(200);
  expect(atTarget).toBe(1);
  expect(egress.hosts.state.calls).toBe(0);
});

it('a failed call, and one whose response nobody reads, leave their places', async () => {
  const { url } = await startHttp((request, response) => {
    if (request.url === '/cut') request.socket.destroy();
    else response.end('x'.repeat(1_000_000));
  });
  egress = createEgress(['127.0.0.1'], async () => null, LIMITS);
  await expect(egress.http(1).send(get(`${url}/cut`), NEVER)).rejects.toMatchObject({
    code: 'connection_failed',
  });
  await expect(egress.http(1).send({ ...get(url), maxResponseBytes: 10 }, NEVER)).rejects.toMatchObject({
    code: 'response_too_large',
  });
  const stream = await egress.fetch(1).fetch(url, {}, 2_000_000);
  expect(egress.hosts.state.calls).toBe(1);
  await stream.body?.cancel();
  await expect.poll(() => egress.hosts.state.calls, { timeout: 60_000 }).toBe(0);
  await expect(egress.fetch(1).fetch(`${url}/cut`, {}, 1_000)).rejects.toMatchObject({
    code: 'connection_failed',
  });
  expect((await (await egress.fetch(1).fetch(url, {}, 2_000_000)).text()).length).toBe(1_000_000);
  await expect.poll(() => egress.hosts.state.calls, { timeout: 60_000 }).toBe(0);
});

it('a pause is for calls with the same credentials; without any, for the same path', async () => {
  const { url } = await startHttp((_request, response) => {
    response.writeHead(429, { 'retry-after': '30' });
    response.end();
  });
  egress = createEgress(['127.0.0.1'], async () => null, LIMITS);
  const client = egress.http(1);
  const isPaused = async (path: string, headers: { [name: string]: string }): Promise<boolean> => {
    const wait = impatient();
    await client.send(get(`${url}${path}`, headers), NEVER, undefined, wait).catch(() => {});
    return wait.putOffs.length > 0;
  };
  const tried = [
    await isPaused('/a', { Authorization: 'Bearer one' }),
    await isPaused('/b', { authorization: 'Bearer one', 'idempotency-key': 'another' }),
    await isPaused('/a', { authorization: 'Bearer two' }),
    await isPaused('/a', { 'X-API-Key': 'one' }),
    await isPaused('/b', { 'x-api-key': 'one' }),
    await isPaused('/hook/1', {}),
    await isPaused('/hook/1?again', {}),
    await isPaused('/hook/2', {}),
  ];
  expect(tried).toEqual([false, true, false, false, true, false, true, false]);
});

it("a connection that is counted is a call until it is closed; one that isn't never waits", async () => {
  const { port } = await startHttp((_request, response) => response.end());
  egress = createEgress(['127.0.0.1'], async () => null, LIMITS);
  const target = { host: '127.0.0.1', port };
  const connect = (wait?: HostWait) => egress.sockets(1).connect(target, NEVER, wait);
  const first = await connect({ ...impatient(), maxWaitMs: null });
  expect(egress.hosts.state.calls).toBe(1);
  const wait = impatient();
  await expect(connect(wait)).rejects.toMatchObject({ code: 'aborted' });
  expect(wait.putOffs).toEqual([`127.0.0.1:${port}`]);
  await expect(
    egress.http(1).send(get(`http://127.0.0.1:${port}`), NEVER, undefined, wait),
  ).rejects.toThrow();
  const uncounted = await connect();
  expect(egress.hosts.state.calls).toBe(1);
  uncounted.destroy();
  const next = connect({ ...impatient(), maxWaitMs: null });
  first.destroy();
  (await next).destroy();
  await expect.poll(() => egress.hosts.state.calls).toBe(0);
});

it('a connection that fails is no longer a call', async () => {
  egress = createEgress(['127.0.0.1'], async () => null, LIMITS);
  // Nobody listens there.
  const connected = egress.sockets(1).connect({ host: '127.0.0.1', port: 1 }, NEVER, impatient());
  await expect(connected).rejects.toMatchObject({ code: 'connection_failed' });
  expect(egress.hosts.state.calls).toBe(0);
});
