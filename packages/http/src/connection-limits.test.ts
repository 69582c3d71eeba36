import { type AddressInfo, connect, type Socket } from 'node:net';
import { type Config, loadConfig } from '@millrace/cli/settings/config';
import Fastify, { type FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { connectionLimits, limitConnections } from './connection-limits.ts';

const { limits } = loadConfig({});
const lines: string[] = [];
const log = pino({}, { write: (line: string) => void lines.push(line) });
let app: FastifyInstance | null = null;
let sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await app?.close();
  sockets = [];
  lines.length = 0;
});

interface Setting {
  readonly connections: number;
  readonly connectionsPerAddress: number;
  readonly trustProxy?: Config['trustProxy'];
}

/** Serves with these limits, opens `count` connections and returns how many of them are served. */
async function servedOf(count: number, { trustProxy = false, ...setting }: Setting): Promise<number> {
  const server = Fastify();
  app = server as FastifyInstance;
  server.get('/', async () => 'served');
  limitConnections(app, { limits: { ...limits, ...setting }, trustProxy }, log);
  await server.listen({ host: '127.0.0.1', port: 0 });
  const port = portOf(app);
  const served = Array.from({ length: count }, () => isServed(port));
  return (await Promise.all(served)).filter(Boolean).length;
}

function portOf({ server }: FastifyInstance): number {
  return (server.address() as AddressInfo).port;
}

/** Whether a connection gets a response; it then stays open. */
async function isServed(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => {});
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  return await new Promise((resolve) => {
    socket.once('data', () => resolve(true));
    socket.once('close', () => resolve(false));
  });
}

test('connections beyond the total are closed, with a single warning', async () => {
  expect(await servedOf(20, { connections: 12, connectionsPerAddress: 0 })).toBe(12);
  expect(lines.filter((line) => line.includes('refused'))).toHaveLength(1);
});

test('connections beyond the limit of an address are closed until one ends', async () => {
  expect(await servedOf(20, { connections: 1_000, connectionsPerAddress: 5 })).toBe(5);
  expect(lines.join()).toContain('"ip":"127.0.0.1"');
  for (const socket of sockets) socket.destroy();
  const port = portOf(app as FastifyInstance);
  await expect.poll(() => isServed(port)).toBe(true);
});

test.each([[['127.0.0.1']], [['10.0.0.1', '127.0.0.0/8']], [1]])(
  'a trusted proxy (%j) only counts towards the total',
  async (trustProxy) => {
    expect(await servedOf(20, { connections: 15, connectionsPerAddress: 5, trustProxy })).toBe(15);
  },
);

test('another trusted proxy changes nothing', async () => {
  const setting = { connections: 15, connectionsPerAddress: 5, trustProxy: ['10.0.0.0/8'] };
  expect(await servedOf(20, setting)).toBe(5);
});

test.each([
  [{ connections: null, connectionsPerAddress: null }, 1_024, { total: 512, perAddress: 256 }],
  [{ connections: null, connectionsPerAddress: null }, 1_048_576, { total: 10_000, perAddress: 5_000 }],
  [{ connections: 50_000, connectionsPerAddress: 7 }, 1_048_576, { total: 50_000, perAddress: 7 }],
  [{ connections: 50_000, connectionsPerAddress: 0 }, 1_024, { total: 768, perAddress: 0 }],
])('%j with %i open files: %j', (setting, openFiles, expected) => {
  expect(connectionLimits({ ...limits, ...setting }, openFiles)).toEqual(expected);
});
