import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { insertExecution, insertWorkflow, type WorkflowIds } from '@millrace/testing/rows';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let database: TestDatabase;
let workflow: WorkflowIds;
beforeAll(async () => {
  database = await createTestDatabase();
  workflow = await insertWorkflow(database.db, 'schema');
});
afterAll(() => database.drop());

const STATUSES = ['queued', 'running', 'waiting_async', 'completed', 'failed', 'cancelled'] as const;
type Status = (typeof STATUSES)[number];

/** Every allowed change of status, besides staying the same. */
const ALLOWED: Readonly<Record<Status, readonly Status[]>> = {
  queued: ['running', 'failed', 'cancelled'],
  running: ['queued', 'waiting_async', 'completed', 'failed', 'cancelled'],
  waiting_async: ['running', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
};

/** Sets a status with all columns that it requires. */
async function setStatus(id: number, status: Status): Promise<void> {
  await database.db.query(
    `UPDATE executions SET status = $2::text, started_at = coalesce(started_at, created_at),
       worker_id = CASE WHEN $2 = 'running' THEN gen_random_uuid() END,
       wake_at = CASE WHEN $2 = 'waiting_async' THEN now() END,
       completed_at = CASE WHEN $2 IN ('completed', 'failed', 'cancelled') THEN now() END,
       error = CASE WHEN $2 = 'failed' THEN '{"code": "x", "message": "x", "node_id": null}'::json END
     WHERE id = $1`,
    [id, status],
  );
}

async function insertWithStatus(status: Status): Promise<number> {
  const id = await insertExecution(database.db, workflow);
  if (status !== 'queued') await setStatus(id, 'running');
  if (status !== 'queued' && status !== 'running') await setStatus(id, status);
  return id;
}

describe('the database itself protects the status of an execution', () => {
  const pairs = STATUSES.flatMap((from) =>
    STATUSES.map((to) => ({ from, to, allowed: ALLOWED[from].includes(to) })),
  );

  test.each(pairs.filter(({ allowed }) => allowed))('$from to $to', async ({ from, to }) => {
    const id = await insertWithStatus(from);
    await setStatus(id, to);
    expect(await database.db.query('SELECT status FROM executions WHERE id = $1', [id])).toEqual([
      { status: to },
    ]);
  });

  test.each(pairs.filter(({ from, to, allowed }) => !allowed && from !== to))(
    'never $from to $to',
    async ({ from, to }) => {
      const id = await insertWithStatus(from);
      await expect(setStatus(id, to)).rejects.toMatchObject({ code: expect.stringMatching(/^MR00[12]$/) });
    },
  );

  test.each(['completed', 'failed', 'cancelled'] as const)('nothing of a %s row changes', async (status) => {
    const id = await insertWithStatus(status);
    const change = database.db.query('UPDATE executions SET consumed_ai_tokens = 1 WHERE id = $1', [id]);
    await expect(change).rejects.toMatchObject({ code: 'MR001' });
  });
});

describe('every table', () => {
  /** They belong to the service, not to an organisation. */
  const OF_THE_SERVICE = [
    'last_run_marks',
    'organisations',
    'recovery_codes',
    'schema_migrations',
    'secret_keys',
    'service_samples',
    'service_secrets',
    'sessions',
    'setup_links',
    'users',
    'workers',
    'write_probes',
  ];

  test('has forced row-level security, except those without an organisation', async () => {
    const rows = await database.db.query<{ name: string; secured: boolean }>(
      `SELECT relname AS name, relrowsecurity AND relforcerowsecurity
           AND EXISTS (SELECT FROM pg_policy WHERE polrelid = pg_class.oid) AS secured
         FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname`,
    );
    expect(rows.filter((row) => !row.secured).map((row) => row.name)).toEqual(OF_THE_SERVICE);
    expect(rows.filter((row) => row.secured).length).toBeGreaterThan(5);
  });
});
