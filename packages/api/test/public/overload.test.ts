import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { checkReadiness } from '@millrace/cli/start/readiness';
import type { SheddingSettings } from '@millrace/http/pressure';
import { createAccount, createBrowser, PASSWORD } from '@millrace/testing/accounts';
import { send } from '@millrace/testing/api';
import { RUNNABLE_FLOW, WEBHOOK_FLOW } from '@millrace/testing/flows';
import { holdLocks } from '@millrace/testing/hold-locks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Receiver } from '../../../cli/test/faults/support/receiver.ts';
import { flowOf } from '../../../runtime/test/worker/flows.ts';
import {
  startWorkingService,
  type WorkingService,
} from '../../../runtime/test/worker/service-with-worker.ts';

/** Connections for transactions of a test database. */
const SESSIONS = 8;

let service: WorkingService;
let receiver: Receiver;
beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(async () => {
  await receiver.stop();
  await service.stop();
});

/** Each test sheds for one reason: a machine that has much else to do may give the other one, and keep an overload from ending. */
async function start(shedding: Partial<SheddingSettings> = {}): Promise<void> {
  service = await startWorkingService({
    config: { shedding: { loopDelayMs: 0, poolWaitMs: 0, ...shedding } },
    deps: { readiness: () => checkReadiness(service.database.db, false) },
  });
}

const probe = async (path: string) => (await send(`${service.url}${path}`, 'GET')).status;
const saysThat = (part: string) => service.logs.some((line) => line.includes(part));

/** Waits for a line in the log; probes are answered all the while, though not so many that they are the load. */
async function untilLogged(part: string): Promise<void> {
  while (!saysThat(part)) {
    expect(await probe('/healthz')).toBe(200);
    await pause(50);
  }
}

/** Uses up all connections for transactions, and lets one more wait for them. @returns a function that gives them back */
async function blockPool(): Promise<() => Promise<unknown>> {
  const { db } = service.database;
  const gate = Promise.withResolvers<void>();
  const acquired: Promise<unknown>[] = [];
  const ended = Array.from({ length: SESSIONS }, () => {
    const started = Promise.withResolvers<void>();
    acquired.push(started.promise);
    return holdLocks(db, async () => {
      started.resolve();
      await gate.promise;
    });
  });
  await Promise.all(acquired);
  let isOpen = false;
  // Each gives up after a while, like a request that is refused; there is always another one.
  const waitAgain = async () => {
    while (!isOpen) await db.transaction(async () => {}).catch(() => {});
  };
  ended.push(waitAgain());
  return async () => {
    isOpen = true;
    gate.resolve();
    return Promise.all(ended);
  };
}

/** Keeps the event loop busy. @returns a function that stops it */
function loadLoop(forMs: number): () => void {
  const busy = () => {
    for (const until = performance.now() + forMs; performance.now() < until; );
  };
  const timer = setInterval(busy, 1);
  return () => clearInterval(timer);
}

/** An execution that waits for a callback, and the path of its callback. */
async function waiting(): Promise<{ readonly id: number; readonly callback: string }> {
  const request = { url: receiver.url('/job'), body: { callback_url: '{{args.callback_url}}' } };
  const flow = flowOf([['wait', 'wait.callback', { config: { request } }]], ['start>wait']);
  const id = await service.execute(await service.createWorkflow(flow));
  const bodies = (await receiver.arrival('/job', 1)).map(({ body }) => body as { callback_url: string });
  const url = bodies[0]?.callback_url ?? '';
  await expect.poll(async () => (await service.read(id)).status).toBe('waiting_async');
  return { id, callback: url.slice(url.indexOf('/callbacks/')) };
}

describe('while connections are exhausted and the loop is busy', () => {
  test('starts and reads get 503 early; probes, sign-in and callbacks are answered', async () => {
    await start({ poolWaitMs: 250 });
    const { key } = service;
    const account = await createAccount(service as never, 'viewer');
    const workflowId = await service.createWorkflow(RUNNABLE_FLOW);
    const webhookId = await service.createWorkflow(WEBHOOK_FLOW);
    const info = await service.api('GET', `/workflows/${webhookId}/webhook-info`, { key });
    const hash = info.json.hash as string;
    const parked = await waiting();
    const unblock = await blockPool();
    const relax = loadLoop(5);
    try {
      await untilLogged('overloaded: new starts and reads are refused');
      const refused = [
        await service.api('GET', '/executions', { key }),
        await service.api('GET', '/workflows', { key }),
        await service.api('GET', `/executions/${parked.id}`, { key }),
        await service.api('POST', `/workflows/${workflowId}/execute`, { key, body: {} }),
        await service.api('POST', `/workflows/${workflowId}/executions/batch`, {
          key,
          body: { items: [{}] },
        }),
        await service.api('POST', `/webhooks/${hash}`, { body: {} }),
      ];
      for (const { status, json, headers } of refused) {
        expect([status, json.code]).toEqual([503, 'overloaded']);
        expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(2);
      }
      expect(await responseBeforeBody(`/api/v1/workflows/${workflowId}/execute`)).toContain('503');
      const { call } = createBrowser(service);
      const signedIn = await call('POST /sign-in', { body: { email: account.email, password: PASSWORD } });
      expect(signedIn.status).toBe(204);
      expect((await call('GET /me')).status).toBe(200);
      expect((await service.api('POST', parked.callback, { body: { ok: true } })).status).toBe(200);
      expect([await probe('/healthz'), await probe('/readyz')]).toEqual([200, 200]);
    } finally {
      relax();
      await unblock();
    }
    await untilLogged('overload ended');
    expect((await service.api('GET', '/executions', { key })).status).toBe(200);
    expect(await service.finished(parked.id)).toMatchObject({ status: 'completed' });
    expect(service.logs.filter((line) => line.includes('overloaded: new starts'))).toHaveLength(1);
    const ended = service.logs.find((line) => line.includes('overload ended'));
    expect(JSON.parse(ended ?? '{}').refused).toBe(7);
  });
});

describe('the event loop alone', () => {
  test('sheds while it is blocked again and again', async () => {
    await start({ loopDelayMs: 400 });
    // Samples are taken from a request on that may be refused.
    expect((await service.api('GET', '/executions', { key: service.key })).status).toBe(200);
    const relax = loadLoop(1_000);
    try {
      await untilLogged('overloaded: new starts and reads are refused');
    } finally {
      relax();
    }
    await untilLogged('overload ended');
  });
});

test('/readyz responds in time when the database does not', async () => {
  await start();
  const { db } = service.database;
  const gate = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const lock = holdLocks(db, async (tx) => {
    await tx.query('LOCK TABLE schema_migrations IN ACCESS EXCLUSIVE MODE');
    locked.resolve();
    await gate.promise;
  });
  await locked.promise;
  const ready = await send(`${service.url}/readyz`, 'GET');
  expect([ready.status, ready.json.code]).toEqual([503, 'not_ready']);
  expect(ready.json.detail).toBe('The database takes too long to respond.');
  expect(await probe('/healthz')).toBe(200);
  gate.resolve();
  await lock;
  expect(await probe('/readyz')).toBe(200);
});

/** What the service sends to a client that announces a body and never sends it. */
async function responseBeforeBody(path: string): Promise<string> {
  const socket = connect(service.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${service.key.text}\r\n` +
      'content-type: application/json\r\ncontent-length: 1000\r\nconnection: close\r\n\r\n',
  );
  return text(socket);
}
