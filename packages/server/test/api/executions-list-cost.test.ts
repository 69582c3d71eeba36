import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Queryable } from '../../src/db/database.ts';
import { type ExecutionFilters, listExecutions } from '../../src/features/executions/store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { insertWorkflow, type WorkflowIds } from '../support/rows.ts';

const ROWS = 60_000;
const NONE: ExecutionFilters = { workflowId: null, status: null, createdAfter: null, createdBefore: null };
/** An 8 KiB page holds about 40 rows; a page of 21 executions plus the ways down four indexes is well below this. */
const MOST_BUFFERS = 250;

let database: TestDatabase;
let ids: WorkflowIds;
let rare: number;
beforeAll(async () => {
  database = await createTestDatabase();
  const { db } = database;
  ids = await insertWorkflow(db, 'long history');
  const { workflowId } = await insertWorkflow(db, 'other');
  await db.query('UPDATE workflows SET organisation_id = $1 WHERE id = $2', [ids.organisationId, workflowId]);
  rare = workflowId;
  // A row every ten seconds, one of 1,000 failed, one of 5,000 of the rare workflow.
  await db.query(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, created_at, started_at, completed_at, error)
     SELECT $1, CASE WHEN n % 5000 = 0 THEN $3::bigint ELSE $2::bigint END, 1,
       CASE WHEN n % 1000 = 1 THEN 'failed' ELSE 'completed' END, 'api', 'sample #' || n, false, '{"a": 1}', t, t, t,
       CASE WHEN n % 1000 = 1 THEN '{}'::json END
     FROM generate_series(1, $4::integer) n,
       LATERAL (SELECT '2026-01-01T00:00:00Z'::timestamptz + n * interval '10 seconds' AS t) times
     ORDER BY n`,
    [ids.organisationId, ids.workflowId, rare, ROWS],
  );
  await db.query('ANALYZE executions');
});
afterAll(() => database.drop());

interface Plan {
  readonly 'Node Type': string;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly Plan[];
}

/** Buffers that the list's own statement touches, as the organisation sees it. */
async function buffersOf(
  filters: Partial<ExecutionFilters>,
  belowId = Number.MAX_SAFE_INTEGER,
): Promise<number> {
  return database.db.forOrganisation(ids.organisationId, async (tx) => {
    const explained: Queryable = {
      async query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]> {
        const [row] = await tx.query<{ 'QUERY PLAN': string }>(
          `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
          values,
        );
        return JSON.parse(row?.['QUERY PLAN'] ?? '[]');
      },
    };
    const rows = await listExecutions(explained, ids.organisationId, { ...NONE, ...filters }, belowId, 21);
    const [{ Plan: plan } = { Plan: undefined }] = rows as unknown as { Plan: Plan }[];
    if (plan === undefined) throw new Error('there is no plan');
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  });
}

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
  expect(await buffersOf(filters, belowId)).toBeLessThan(MOST_BUFFERS);
});

test('the same for a workflow, with and without other filters', async () => {
  for (const workflowId of [rare, ids.workflowId]) {
    expect(await buffersOf({ workflowId })).toBeLessThan(MOST_BUFFERS);
    expect(await buffersOf({ workflowId, status: 'failed' })).toBeLessThan(MOST_BUFFERS);
    expect(await buffersOf({ workflowId, ...MIDDLE })).toBeLessThan(MOST_BUFFERS);
  }
});
