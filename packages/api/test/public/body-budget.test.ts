import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { RUNNABLE_FLOW } from '@millrace/testing/flows';
import { startTestService, type TestKey, type TestService } from '@millrace/testing/service';
import { afterEach, beforeEach, expect, test } from 'vitest';

const BODY = 200_000;
const FLOW = { name: 'a', flow_data: RUNNABLE_FLOW };

let service: TestService;
let sockets: Socket[];
beforeEach(async () => {
  sockets = [];
  service = await startTestService({ runsWorker: false, limits: { bodyBudgetBytes: 5 * BODY } });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await service.stop();
});

/** Begins a request and none of its body. @returns status of the first response: 100 asks for the body */
async function beginBody(path: string, headers: readonly string[], length = BODY): Promise<number> {
  const socket = connect(service.port, '127.0.0.1');
  sockets.push(socket);
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: a',
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    'Expect: 100-continue',
    ...headers,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  return Number(answer.toString().split(' ')[1]);
}

/** `Authorization` of a key. */
function as({ text }: TestKey): string[] {
  return [`Authorization: Bearer ${text}`];
}

const EXECUTE = '/api/v1/workflows/1/execute';

test('an organisation that sends many bodies gets 503 before they are read; others get in', async () => {
  const [greedy, other] = [await service.createKey(), await service.createKey()];
  for (let count = 0; count < 3; count += 1) await beginBody(EXECUTE, as(greedy));
  const body = { ...FLOW, description: 'x'.repeat(BODY) };
  await expect
    .poll(async () => (await service.api('POST', '/workflows', { key: greedy, body })).status)
    .toBe(503);
  const refused = await service.api('POST', '/workflows', { key: greedy, body });
  expect(refused.json.code).toBe('overloaded');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await service.api('POST', '/workflows', { key: other, body: FLOW })).status).toBe(201);
  expect((await service.api('GET', '/workflows', { key: greedy })).status).toBe(200);
  for (const socket of sockets) socket.destroy();
  await expect
    .poll(async () => (await service.api('POST', '/workflows', { key: greedy, body: FLOW })).status)
    .toBe(201);
});

test('webhooks of one address and sign-in share its part; a body over its own limit stays 413', async () => {
  const { json } = await service.api('POST', '/workflows', { key: await service.createKey(), body: FLOW });
  const hash = 'a'.repeat(43);
  for (let count = 0; count < 3; count += 1) await beginBody(`/api/v1/webhooks/${hash}`, []);
  const large = JSON.stringify({ email: 'a@example.com', password: 'x'.repeat(BODY) });
  const post = (path: string, text: string) =>
    fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: 'https://flows.example' },
      body: text,
    });
  await expect.poll(async () => (await post(`/api/v1/webhooks/${hash}`, large)).status).toBe(503);
  expect((await post('/api/admin/sign-in', large)).status).toBe(503);
  expect((await post(`/api/v1/webhooks/${hash}`, 'x'.repeat(2_000_000))).status).toBe(413);
  expect((await service.api('GET', `/workflows/${json.id}`, { key: await service.createKey() })).status).toBe(
    404,
  );
});
