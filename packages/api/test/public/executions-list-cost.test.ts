import type { Queryable } from '@millrace/database/database';
import { type ExecutionFilters, listExecutions } from '@millrace/service/executions/store';
import {
  buffersOf,
  createLongHistory,
  insertSmallAmongLarge,
  type LongHistory,
} from '@millrace/testing/list-cost';
import { insertWorkflow } from '@millrace/testing/rows';
import { afterAll, beforeAll, expect, test } from 'vitest';

const NONE: ExecutionFilters = { workflowId: null, status: null, createdAfter: null, createdBefore: null };
/** An 8 KiB page has room for about 40 rows; a page of 21 executions plus four index descents stays well below this. */
const MAX_BUFFERS = 250;

let history: LongHistory;
beforeAll(async () => {
  history = await createLongHistory(60_000);
});
afterAll(() => history.database.drop());

const costOf = (filters: Partial<ExecutionFilters>, belowId = Number.MAX_SAFE_INTEGER) =>
  buffersOf(history, (tx) =>
    listExecutions(tx, history.ids.organisationId, { ...NONE, ...filters }, belowId, 21),
  );

const at = (text: string) => new Date(text);
const MIDDLE = { createdAfter: at('2026-01-03T00:00:00Z'), createdBefore: at('2026-01-04T00:00:00Z') };

test.each<[string, Partial<ExecutionFilters>, number?]>([
  ['no filter', {}],
  ['a page far back', {}, 500],
  ['status completed', { status: 'completed' }],
  ['a rare status', { status: 'failed' }],
  ['a status nobody has', { status: 'queued' }],
  ['the newest', { createdAfter: at('2026-01-07T22:00:00Z') }],
  ['the oldest', { createdBefore: at('2026-01-01T01:00:00Z') }],
  ['a time in the middle', MIDDLE],
  [
    'a few seconds in the middle',
    { createdAfter: at('2026-01-03T00:00:00Z'), createdBefore: at('2026-01-03T00:00:25Z') },
  ],
  ['the older half', { createdBefore: at('2026-01-04T12:00:00Z') }],
  ['the older half of a status', { createdBefore: at('2026-01-04T12:00:00Z'), status: 'completed' }],
  ['a time before everything', { createdBefore: at('2020-01-01T00:00:00Z') }],
  ['a time after everything', { createdAfter: at('2030-01-01T00:00:00Z') }],
  ['a time and a status', { ...MIDDLE, status: 'completed' }],
])('a page costs what it shows, not what there is: %s', async (_what, filters, belowId) => {
  expect(await costOf(filters, belowId)).toBeLessThan(MAX_BUFFERS);
});

test('the same for a workflow, with and without other filters', async () => {
  for (const workflowId of [history.rare, history.ids.workflowId]) {
    expect(await costOf({ workflowId })).toBeLessThan(MAX_BUFFERS);
    for (const status of [
      'queued',
      'running',
      'waiting_async',
      'completed',
      'failed',
      'cancelled',
    ] as const) {
      expect(await costOf({ workflowId, status })).toBeLessThan(MAX_BUFFERS);
    }
    expect(await costOf({ workflowId, ...MIDDLE })).toBeLessThan(MAX_BUFFERS);
  }
});

test('a status that a workflow has none of costs nothing, however many it and others have of the rest', async () => {
  const { db } = history.database;
  const { organisationId } = history.ids;
  const { workflowId: failing } = await insertWorkflow(db, 'fails always');
  await db.query('UPDATE workflows SET organisation_id = $1 WHERE id = $2', [organisationId, failing]);
  await db.query(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, created_at, started_at, completed_at, error)
     SELECT $1, CASE WHEN n % 2 = 0 THEN $2::bigint ELSE $3::bigint END, 1,
       CASE WHEN n % 2 = 0 THEN 'failed' ELSE 'completed' END, 'api', 'sample', false, '{}', t, t, t,
       CASE WHEN n % 2 = 0 THEN '{}'::json END
     FROM generate_series(1, 40000) n, (SELECT now() AS t) now ORDER BY n`,
    [organisationId, failing, history.ids.workflowId],
  );
  await db.query('ANALYZE executions');
  expect(await costOf({ workflowId: failing, status: 'completed' })).toBeLessThan(20);
  expect(await costOf({ workflowId: failing, status: 'cancelled' })).toBeLessThan(20);
  expect(await costOf({ workflowId: history.rare, status: 'failed' })).toBeLessThan(20);
});

test('a page of a workflow costs no more if its organisation is a small one among large ones', async () => {
  const small = await insertSmallAmongLarge(history);
  const { organisationId, workflowId } = small.ids;
  const list = (tx: Queryable) =>
    listExecutions(tx, organisationId, { ...NONE, workflowId }, Number.MAX_SAFE_INTEGER, 101);
  // Five times as many rows as on the other pages.
  expect(await buffersOf(small, list)).toBeLessThan(2 * MAX_BUFFERS);
});
