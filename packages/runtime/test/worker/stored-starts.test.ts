import type { Queryable } from '@millrace/database/database';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { insertWorkflow, type WorkflowIds } from '@millrace/testing/rows';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hashOfKey } from '../../src/start-row.ts';
import { insertExecutions, type KeyedResponse, type StartRow } from '../../src/start-statements.ts';
import { reserveExecutionIds } from '../../src/statements.ts';
import { rowOf } from './complete-store.ts';

let database: TestDatabase;
let ids: WorkflowIds;
let sent: string[];
beforeEach(async () => {
  database = await createTestDatabase();
  ids = await insertWorkflow(database.db, 'stored starts');
  sent = [];
});
afterEach(() => database.drop());

/** Notes the names of statements. */
function watched(): Queryable {
  return {
    query: (text, values, name) => {
      sent.push(name ?? '');
      return database.db.query(text, values, name);
    },
  };
}

async function plain(changes: Partial<StartRow> = {}): Promise<StartRow> {
  const [reserved] = await reserveExecutionIds(database.db, 1);
  const request = {
    ...ids,
    ...{ executionId: reserved?.id ?? 0, workflowVersion: 1, triggerType: 'api', displayName: 'sample' },
    ...{ isTestMode: false, input: { amount: 12 }, timeoutMs: null, leaseTo: null },
  };
  return { ...rowOf(request), ...changes };
}

/** What is stored of it, without what is each execution's own. */
async function storedOf({ id }: StartRow): Promise<object | undefined> {
  const [row] = await database.db.query<{ stored: string }>(
    `SELECT to_jsonb(e) - ARRAY['id', 'created_at', 'started_at', 'completed_at', 'first_records_at'] AS stored
     FROM executions e WHERE id = $1`,
    [id],
  );
  return row === undefined ? undefined : (JSON.parse(row.stored) as object);
}

function keyed(key: string): { readonly response: KeyedResponse } {
  const familyId = '5a1f8fd8-6f2e-4f0b-9c35-8f7f5e0b1d11';
  const idempotencyKey = { familyId, route: 'execute', key, fingerprint: hashOfKey(key) };
  return { response: { idempotencyKey, status: 202, location: '/executions/1', body: '{"id":"1"}' } };
}

const ENDED = { errorJson: null, consumedAiTokens: 3, storedBytes: 40 };
const KEYED_LIMIT = { key: hashOfKey('customer'), limit: 2, onLimit: 'skip' } as const;

/** What makes a start need the statement with all columns, and the column that says so. */
const RARE: { readonly [what: string]: [changes: Partial<StartRow>, column: string, value: unknown] } = {
  'a time limit': [{ timeoutMs: 5_000 }, 'timeout_ms', 5_000],
  'an earlier execution': [{ rerunOf: 1 }, 'rerun_of', 1],
  'a limit of executions at once': [{ maxConcurrency: 4 }, 'max_concurrency', 4],
  'a limit by key': [{ maxConcurrency: 9, concurrency: KEYED_LIMIT }, 'concurrency_limit', 2],
  'a time until which it is held': [
    { heldUntil: new Date('2030-01-01T00:00:00Z') },
    'held_until',
    '2030-01-01T00:00:00+00:00',
  ],
  'search keys': [{ searchKeysJson: '{"order":"A1"}' }, 'search_keys', { order: 'A1' }],
  files: [{ givenFilesJson: '{"ids":[],"of":null}' }, 'given_files', { ids: [], of: null }],
  'an error': [
    { ahead: { ...ENDED, status: 'failed', errorJson: '{"code":"broken"}' } },
    'error',
    { code: 'broken' },
  ],
};

test.each(Object.entries(RARE))(
  'a start with %s keeps it, alone and among plain ones',
  async (_, [changes, column, value]) => {
    const alone = await plain(changes);
    const among = await plain(changes);
    await insertExecutions(watched(), [alone]);
    await insertExecutions(watched(), [await plain(), among, await plain()]);
    expect(sent).toEqual(['insert_executions_full', 'insert_executions_full']);
    expect(await storedOf(alone)).toMatchObject({ [column]: value });
    expect(await storedOf(among)).toEqual(await storedOf(alone));
  },
);

test('a start with an error workflow keeps it', async () => {
  const row = await plain({ errorWorkflowId: ids.workflowId });
  await insertExecutions(watched(), [row]);
  expect(await storedOf(row)).toMatchObject({ error_workflow_id: ids.workflowId });
});

test('a plain start is stored the same by every statement', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const changes = {
    ...{ traceparent, sourceIp: '127.0.0.1', priority: 2, recordsJson: '[{"node_id":"a"}]' },
    ahead: { ...ENDED, status: 'completed' },
  } as const;
  const rows = [await plain(changes), await plain(changes), await plain(changes), await plain(changes)];
  const [first, second, third, fourth] = rows as [StartRow, StartRow, StartRow, StartRow];
  const rare = { timeoutMs: 5_000 };
  await insertExecutions(watched(), [first]);
  await insertExecutions(watched(), [second, await plain(rare)]);
  await insertExecutions(watched(), [third, await plain(keyed('third'))]);
  await insertExecutions(watched(), [fourth, await plain({ ...keyed('fourth'), ...rare })]);
  expect(sent).toEqual([
    'insert_executions',
    'insert_executions_full',
    'insert_executions_keyed',
    'insert_executions_full_keyed',
  ]);
  const [expected, ...others] = await Promise.all(rows.map(storedOf));
  expect(expected).toMatchObject({
    status: 'completed',
    consumed_ai_tokens: 3,
    stored_bytes: 40,
    traceparent,
  });
  expect(others).toEqual([expected, expected, expected]);
});

test.each([
  ['plain', {}],
  ['full', { timeoutMs: 5_000 }],
] as const)('a key that was used stores nothing more: %s', async (_, changes) => {
  const first = await plain({ ...changes, ...keyed('once') });
  const again = await plain({ ...changes, ...keyed('once') });
  const other = await plain({ ...changes, ...keyed('other') });
  expect(await insertExecutions(watched(), [first])).toMatchObject([{ id: first.id }]);
  expect(await insertExecutions(watched(), [again, other])).toMatchObject([{ id: other.id }]);
  expect(await storedOf(again)).toBeUndefined();
  const [record] = await database.db.query(
    "SELECT status, location, body FROM idempotency_records WHERE idempotency_key = 'once'",
  );
  expect(record).toEqual({ status: 202, location: '/executions/1', body: '{"id":"1"}' });
});
