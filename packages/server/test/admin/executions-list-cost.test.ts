import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Queryable } from '../../src/db/database.ts';
import { findAdminExecutions, MAX_LOOKED } from '../../src/features/executions/admin-list.ts';
import type { AdminExecutionFilters } from '../../src/features/executions/admin-store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { insertWorkflow, type WorkflowIds } from '../support/rows.ts';

const ROWS = 120_000;
const NONE: AdminExecutionFilters = {
  statuses: null,
  workflowId: null,
  triggerType: null,
  isTestMode: null,
  text: null,
  after: null,
  before: null,
};
/** A page of 51 executions plus the ways down the indexes of each statement is well below this. */
const MOST_BUFFERS = 400;
/** What no index serves is looked for row by row, up to a bound. */
const MOST_BUFFERS_OF_A_SEARCH = 2 * MAX_LOOKED;

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
  // A row every ten seconds: one of 20 cancelled, one of 1,000 failed, one of 5,000 of the rare workflow.
  await db.query(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, created_at, started_at, completed_at, error)
     SELECT $1, CASE WHEN n % 5000 = 0 THEN $3::bigint ELSE $2::bigint END, 1,
       CASE WHEN n % 1000 = 1 THEN 'failed' WHEN n % 20 = 7 THEN 'cancelled' ELSE 'completed' END, 'api', 'sample #' || n,
       false, '{"a": 1}', t, t, t, CASE WHEN n % 1000 = 1 THEN '{}'::json END
     FROM generate_series(1, $4::integer) n,
       LATERAL (SELECT '2026-01-01T00:00:00Z'::timestamptz + n * interval '10 seconds' AS t) times
     ORDER BY n`,
    [ids.organisationId, ids.workflowId, rare, ROWS],
  );
  await db.query('ANALYZE executions');
});
afterAll(() => database.drop());

interface Plan {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
}

/** Buffers that the statements of one page touch, as the organisation sees it. */
async function buffersOf(filters: Partial<AdminExecutionFilters>): Promise<number> {
  return database.db.forOrganisation(ids.organisationId, async (tx) => {
    let buffers = 0;
    const counted: Queryable = {
      async query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]> {
        const [row] = await tx.query<{ 'QUERY PLAN': string }>(
          `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
          values,
        );
        const [{ Plan: plan }] = JSON.parse(row?.['QUERY PLAN'] ?? '[]') as [{ Plan: Plan }];
        buffers += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
        return tx.query<Row>(text, values);
      },
    };
    await findAdminExecutions(counted, ids.organisationId, { ...NONE, ...filters }, null, 51);
    return buffers;
  });
}

const MIDDLE = { after: new Date('2026-01-05T00:00:00Z'), before: new Date('2026-01-06T00:00:00Z') };

test.each<[string, () => Partial<AdminExecutionFilters>]>([
  ['no filter', () => ({})],
  ['completed', () => ({ statuses: ['completed'] })],
  ['a rare status', () => ({ statuses: ['failed'] })],
  ['several statuses', () => ({ statuses: ['cancelled', 'failed', 'running'] })],
  ['statuses with completed', () => ({ statuses: ['completed', 'queued'] })],
  ['a status nobody has', () => ({ statuses: ['queued'] })],
  ['a workflow', () => ({ workflowId: ids.workflowId })],
  ['a rare workflow', () => ({ workflowId: rare })],
  ['a workflow and a rare status', () => ({ workflowId: ids.workflowId, statuses: ['failed'] })],
  ['a time', () => MIDDLE],
  ['a time and statuses', () => ({ ...MIDDLE, statuses: ['failed', 'cancelled'] })],
  ['a time and a rare workflow', () => ({ ...MIDDLE, workflowId: rare })],
  ['a time before everything', () => ({ before: new Date('2020-01-01T00:00:00Z') })],
  ['a frequent text', () => ({ text: 'SAMPLE' })],
])('a page costs what it shows, not what there is: %s', async (_what, filters) => {
  expect(await buffersOf(filters())).toBeLessThan(MOST_BUFFERS);
});

test.each<[string, () => Partial<AdminExecutionFilters>]>([
  ['a text nobody has', () => ({ text: 'zebra' })],
  ['a text within a status', () => ({ text: 'zebra', statuses: ['cancelled'] })],
  ['a trigger nobody used', () => ({ triggerType: 'schedule' })],
  ['a test mode nobody used', () => ({ isTestMode: true })],
  ['a rare workflow and a frequent status', () => ({ workflowId: rare, statuses: ['cancelled'] })],
])('a search has a bound: %s', async (_what, filters) => {
  expect(await buffersOf(filters())).toBeLessThan(MOST_BUFFERS_OF_A_SEARCH);
});
