import type { Caller } from '@millrace/runtime/node-services';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMemoryService, MAX_STORED_TURNS } from '../src/memory.ts';
import { deleteMemories, listMemories, pruneMemories } from '../src/memory-store.ts';

let database: TestDatabase;
let organisationId: number;
let otherId: number;
let workflowId: number;

beforeAll(async () => {
  database = await createTestDatabase();
  const organisations = await database.db.query<{ id: number }>(
    "INSERT INTO organisations (name) VALUES ('one'), ('two') RETURNING id",
  );
  [organisationId, otherId] = organisations.map(({ id }) => id) as [number, number];
  workflowId = await newWorkflow(organisationId);
});
afterAll(() => database.drop());

async function newWorkflow(organisation: number): Promise<number> {
  const [row] = await database.db.query<{ id: number }>(
    `WITH w AS (
       INSERT INTO workflows (organisation_id, name, status, version, webhook_hash)
       VALUES ($1, 'chat', 'draft', 1, 'w' || gen_random_uuid()::text || '123456') RETURNING id, organisation_id)
     SELECT id FROM w`,
    [organisation],
  );
  return row?.id ?? 0;
}

const callerOf = (attempt: string, more: Partial<Caller> = {}): Caller => ({
  organisationId,
  workflowId,
  executionId: 1,
  nodeId: 'agent',
  iteration: [],
  idempotencyKey: attempt,
  isTestMode: false,
  onSecret: () => {},
  ...more,
});

const TTL = { summary: null, ttlS: 60 };
const turn = (text: string) => ({ user: text, assistant: `${text}!` });

test('a turn is remembered once, and its own node does not read it', async () => {
  const memory = createMemoryService(database.db);
  const first = memory(callerOf('1'));
  await first.remember('once', turn('a'), TTL);
  await first.remember('once', turn('a again'), TTL);
  expect(await first.read('once')).toEqual({ summary: null, turns: [] });
  expect(await memory(callerOf('2')).read('once')).toEqual({ summary: null, turns: [turn('a')] });
});

test('turns of many nodes at once are all remembered', async () => {
  const memory = createMemoryService(database.db);
  const names = Array.from({ length: 20 }, (_, n) => `many ${n}`);
  await Promise.all(names.map((name) => memory(callerOf(name)).remember('many', turn(name), TTL)));
  const { turns } = await memory(callerOf('reader')).read('many');
  expect(turns.map(({ user }) => user).toSorted()).toEqual(names.toSorted());
});

test('of another workflow or organisation nothing is read', async () => {
  const memory = createMemoryService(database.db);
  await memory(callerOf('3')).remember('private', turn('a'), TTL);
  const others = [{ workflowId: await newWorkflow(organisationId) }, { organisationId: otherId }];
  for (const other of others) {
    expect(await memory(callerOf('4', other)).read('private')).toEqual({ summary: null, turns: [] });
  }
});

test('a summary replaces the turns it was made of, and none that came since', async () => {
  const memory = createMemoryService(database.db);
  for (const name of ['a', 'b', 'c']) await memory(callerOf(`s ${name}`)).remember('sum', turn(name), TTL);
  const summary = { text: 'About a and b.', of: [turn('a'), turn('b')] };
  await memory(callerOf('s d')).remember('sum', turn('d'), { summary, ttlS: 60 });
  const read = await memory(callerOf('s e')).read('sum');
  expect(read).toEqual({ summary: 'About a and b.', turns: [turn('c'), turn('d')] });
});

test('what is stored is bounded, and texts that PostgreSQL refuses are mended', async () => {
  const memory = createMemoryService(database.db);
  await memory(callerOf('odd')).remember('odd', { user: 'a\0\ud800', assistant: 'x'.repeat(1_000_000) }, TTL);
  const { turns } = await memory(callerOf('reader')).read('odd');
  expect([turns[0]?.user, turns[0]?.assistant.length]).toEqual(['a\ufffd\ufffd', 32_001]);
  for (let n = 0; n < 12; n += 1)
    await memory(callerOf(`large ${n}`)).remember('large', turn('あ'.repeat(20_000)), TTL);
  const large = await memory(callerOf('reader')).read('large');
  expect(large.turns.length).toBeGreaterThan(0);
  expect(Buffer.byteLength(JSON.stringify(large.turns))).toBeLessThan(256 * 1024);
  expect(MAX_STORED_TURNS).toBeGreaterThan(large.turns.length);
});

test('above the limits of an organisation, what was used least recently is forgotten', async () => {
  await database.db.query('DELETE FROM ai_memories');
  const memory = createMemoryService(database.db, { memories: 2, bytes: 1_000_000 });
  for (const key of ['old', 'middle', 'new']) await memory(callerOf(key)).remember(key, turn(key), TTL);
  const keys = async () =>
    (await listMemories(database.db, organisationId, { workflowId, limit: 10 })).map(({ key }) => key);
  expect(await keys()).toEqual(['new', 'middle']);
  const small = createMemoryService(database.db, { memories: 10, bytes: 300 });
  await small(callerOf('x')).remember('x', turn('y'.repeat(200)), TTL);
  expect(await keys()).toEqual(['x']);
});

test('it expires, and can be forgotten before', async () => {
  const memory = createMemoryService(database.db);
  await memory(callerOf('e')).remember('e', turn('e'), TTL);
  await database.db.query("UPDATE ai_memories SET expires_at = now() - interval '1 second' WHERE key = 'e'");
  expect(await memory(callerOf('f')).read('e')).toEqual({ summary: null, turns: [] });
  await memory(callerOf('g')).remember('e', turn('g'), TTL);
  expect((await memory(callerOf('h')).read('e')).turns).toEqual([turn('g')]);
  await database.db.query("UPDATE ai_memories SET expires_at = now() - interval '1 second' WHERE key = 'e'");
  expect(await pruneMemories(database.db, 10)).toBe(1);
  await memory(callerOf('i')).remember('i', turn('i'), TTL);
  expect(await deleteMemories(database.db, otherId, workflowId, null)).toBe(0);
  expect(await deleteMemories(database.db, organisationId, workflowId, 'i')).toBe(1);
});

test.each(['', 'x'.repeat(256), 'a\0b'])('a name that cannot be stored is refused: %j', async (key) => {
  const memory = createMemoryService(database.db)(callerOf('k'));
  await expect(memory.read(key)).rejects.toMatchObject({ code: 'invalid_memory_key' });
});
