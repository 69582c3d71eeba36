import Fastify, { type FastifyInstance } from 'fastify';
import pino from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { addOverloadProtection } from './overload.ts';

let app: FastifyInstance;
let poolWaitMs = 0;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  poolWaitMs = 0;
  app = Fastify();
  const config = { shedding: { loopDelayMs: 0, poolWaitMs: 1_000 } };
  addOverloadProtection(app, { config, log: pino({ level: 'silent' }), poolWaitMs: () => poolWaitMs });
  app.get('/read', { config: { scope: 'workflows:read' } as never }, async () => ({}));
  app.get('/probe', async () => ({}));
  await app.ready();
});
afterEach(async () => {
  await app.close();
  vi.useRealTimers();
});

const statusOf = async (url: string) => (await app.inject(url)).statusCode;

it('an idle process takes no samples, and probes change nothing about that', async () => {
  expect(vi.getTimerCount()).toBe(0);
  expect(await statusOf('/probe')).toBe(200);
  expect(vi.getTimerCount()).toBe(0);
});

it('samples are taken for ten seconds after a request that could be refused', async () => {
  expect(await statusOf('/read')).toBe(200);
  vi.advanceTimersByTime(9_000);
  expect(vi.getTimerCount()).toBe(1);
  expect(await statusOf('/read')).toBe(200);
  vi.advanceTimersByTime(9_000);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(2_000);
  expect(vi.getTimerCount()).toBe(0);
});

it('an overload is seen to its end, however long no request comes', async () => {
  poolWaitMs = 5_000;
  expect(await statusOf('/read')).toBe(200);
  vi.advanceTimersByTime(2_000);
  expect(await statusOf('/read')).toBe(503);
  expect(await statusOf('/probe')).toBe(200);
  vi.advanceTimersByTime(60_000);
  expect(vi.getTimerCount()).toBe(1);
  poolWaitMs = 0;
  vi.advanceTimersByTime(3_000);
  expect(vi.getTimerCount()).toBe(0);
  expect(await statusOf('/read')).toBe(200);
});
