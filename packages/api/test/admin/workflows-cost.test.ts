import type { Queryable } from '@millrace/database/database';
import { listRecentRuns, listWorkflowItems } from '@millrace/service/workflows/admin-store';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { insertWorkflow, type WorkflowIds } from '@millrace/testing/rows';
import { afterAll, beforeAll, expect, test } from 'vitest';

const WORKFLOWS = 200;
const PAGE = 50;
/** Two of the workflows have nearly all of them. */
const ROWS = 100_000;

let database: TestDatabase;
let ids: WorkflowIds;
beforeAll(async () => {
  database = await createTestDatabase();
  const { db } = database;
  ids = await insertWorkflow(db, 'many');
  await db.query(
    `WITH made AS (
       INSERT INTO workflows (organisation_id, name, status, version, webhook_hash)
       SELECT $1, 'workflow ' || n, 'active', 1, rpad('w', 35, 'x') || lpad(n::text, 8, '0')
       FROM generate_series(1, $2::integer) n RETURNING id
     ) INSERT INTO workflow_versions (workflow_id, version, organisation_id, flow_data)
     SELECT id, 1, $1, '{"nodes": [], "edges": []}' FROM made`,
    [ids.organisationId, WORKFLOWS],
  );
  await db.query(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, created_at, started_at, completed_at)
     SELECT $1, $2::bigint + CASE WHEN n % 10 = 0 THEN n / 10 % $3 ELSE n % 2 END, 1, 'completed', 'api', 'run', false,
       '{"a": 1}', now(), now(), now()
     FROM generate_series(1, $4::integer) n`,
    [ids.organisationId, ids.workflowId, WORKFLOWS, ROWS],
  );
  await db.query('ANALYZE');
});
afterAll(() => database.drop());

/** Buffers touched by a statement, executed as the organisation. */
async function buffersOf(run: (tx: Queryable) => Promise<unknown>): Promise<number> {
  return database.db.forOrganisation(ids.organisationId, async (tx) => {
    let plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } | undefined;
    await run({
      async query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]> {
        const [row] = await tx.query<{ 'QUERY PLAN': string }>(
          `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
          values,
        );
        plan = JSON.parse(row?.['QUERY PLAN'] ?? '[]')[0]?.Plan;
        return [];
      },
    });
    if (plan === undefined) throw new Error('there is no plan');
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  });
}

test('a page of the list reads only the entries it shows, not the history', async () => {
  const { organisationId, workflowId } = ids;
  const page = Array.from({ length: PAGE }, (_, index) => workflowId + index);
  // 20 rows of 50 workflows, each on its own page at worst, plus 50 index descents.
  expect(await buffersOf((tx) => listRecentRuns(tx, organisationId, page, 20))).toBeLessThan(PAGE * 26);
  const none = { statuses: ['active'], tag: null, patterns: [] } as const;
  const list = (tx: Queryable) =>
    listWorkflowItems(tx, organisationId, 1, none, Number.MAX_SAFE_INTEGER, PAGE + 1);
  expect(await buffersOf(list)).toBeLessThan(150);
});
