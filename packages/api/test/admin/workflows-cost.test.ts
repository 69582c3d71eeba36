import { WORKFLOW_SORTS, WORKFLOW_STATUSES, type WorkflowSort } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { listRecentRuns } from '@millrace/service/workflows/admin-store';
import {
  type ListPosition,
  listWorkflowItems,
  type WorkflowFilters,
} from '@millrace/service/workflows/list-store';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { insertWorkflow, type WorkflowIds } from '@millrace/testing/rows';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

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
async function buffersOf(
  run: (tx: Queryable) => Promise<unknown>,
  organisationId = ids.organisationId,
): Promise<number> {
  return database.db.forOrganisation(organisationId, async (tx) => {
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
});

describe('a list of many workflows', () => {
  const MANY = 20_000;
  const FOLDERS = 10;
  const FAVOURITES = 100;
  let organisationId: number;
  let userId: number;
  let folderId: number;
  beforeAll(async () => {
    const { db } = database;
    ({ organisationId } = await insertWorkflow(db, 'long list'));
    [{ id: userId } = { id: 0 }] = await db.query<{ id: number }>(
      `INSERT INTO users (email, name) VALUES ('long@list.example', 'Long') RETURNING id`,
    );
    const folders = await db.query<{ id: number }>(
      `INSERT INTO workflow_folders (organisation_id, name) SELECT $1, 'folder ' || n FROM generate_series(1, $2::integer) n
       RETURNING id`,
      [organisationId, FOLDERS],
    );
    folderId = folders[0]?.id ?? 0;
    // Nine of ten are archived, and the folder's are the ones that come last in every order.
    await db.query(
      `INSERT INTO workflows (organisation_id, name, status, version, webhook_hash, folder_id, last_execution_id, updated_at)
       SELECT $1, 'Workflow ' || lpad(($3 - n)::text, 9, '0'),
         CASE WHEN n % 10 = 0 THEN (ARRAY['active', 'draft', 'inactive'])[n / 10 % 3 + 1] ELSE 'archived' END, 1,
         rpad('l', 35, 'x') || lpad(n::text, 8, '0'), $2::bigint + n * $4 / ($3 + 1), n, now() + n * interval '1 second'
       FROM generate_series(1, $3::integer) n`,
      [organisationId, folderId, MANY, FOLDERS],
    );
    await db.query(
      `INSERT INTO workflow_favourites (user_id, workflow_id, organisation_id)
       SELECT $2, id, $1 FROM workflows WHERE organisation_id = $1 AND name_key < 'workflow 000000500' LIMIT $3`,
      [organisationId, userId, FAVOURITES],
    );
    await db.query('ANALYZE');
  });

  const NONE: WorkflowFilters = {
    statuses: ['draft', 'active', 'inactive'],
    tag: null,
    patterns: [],
    folder: null,
    onlyFavourites: false,
  };
  const list = (
    tx: Queryable,
    filters: Partial<WorkflowFilters>,
    sort: WorkflowSort,
    after: ListPosition | null = null,
  ) =>
    listWorkflowItems(
      tx,
      { organisationId, userId },
      { ...NONE, ...filters },
      { sort, after, count: PAGE + 1 },
    );
  /** A row is on a page of its own at worst, and is looked up in drafts and favourites. */
  const MOST = (PAGE + 1) * 6;

  describe.each(WORKFLOW_SORTS)('by %s', (sort) => {
    test.each([
      ['of all', {}],
      ['of a folder', { folder: 'theirs' }],
      ['of no folder', { folder: 'none' }],
      ['of the archived', { statuses: ['archived'] }],
      ['of all, archived ones included', { statuses: WORKFLOW_STATUSES }],
      ['of one status', { statuses: ['active'] }],
    ] as const)('%s reads only what it shows', async (_name, given) => {
      const isTheirs = 'folder' in given && given.folder === 'theirs';
      const filters = { ...given, ...(isTheirs ? { folder: folderId } : {}) } as Partial<WorkflowFilters>;
      expect(await buffersOf((tx) => list(tx, filters, sort), organisationId)).toBeLessThan(MOST);
    });

    test('of favourites reads these, and nothing else', async () => {
      const filters = { onlyFavourites: true, statuses: WORKFLOW_STATUSES };
      const buffers = await buffersOf((tx) => list(tx, filters, sort), organisationId);
      expect(buffers).toBeLessThan(MOST + FAVOURITES * 4);
    });

    test('continues after any position', async () => {
      const read = (after: ListPosition | null) =>
        database.db.forOrganisation(organisationId, (tx) =>
          list(tx, { folder: folderId, statuses: WORKFLOW_STATUSES }, sort, after),
        );
      const seen: number[] = [];
      let after: ListPosition | null = null;
      for (let isFirst = true; isFirst || after !== null; isFirst = false) {
        const rows = await read(after);
        seen.push(...rows.slice(0, PAGE).map(({ id }) => id));
        const last = rows.length > PAGE ? rows[PAGE - 1] : undefined;
        after = last === undefined ? null : { id: last.id, key: last.sort_key };
        const position = after;
        if (position !== null && seen.length === PAGE * 20) {
          const next = (tx: Queryable) =>
            list(tx, { folder: folderId, statuses: WORKFLOW_STATUSES }, sort, position);
          expect(await buffersOf(next, organisationId)).toBeLessThan(MOST);
        }
      }
      expect(new Set(seen).size).toBe(MANY / FOLDERS);
      expect(seen).toHaveLength(MANY / FOLDERS);
    });
  });
});
