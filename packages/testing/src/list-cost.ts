import type { Queryable } from '@millrace/database/database';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { insertWorkflow, type WorkflowIds } from './rows.ts';
import { explainBuffers } from './statement-cost.ts';

/** A database whose only organisation has a long history of executions. */
export interface LongHistory {
  readonly database: TestDatabase;
  readonly ids: WorkflowIds;
  /** The workflow of one in 5,000 executions. */
  readonly rare: number;
}

/**
 * Inserts this many executions, one every ten seconds from the start of 2026: one in 1,000 failed, one in 20 cancelled, one in 5,000 of the
 * rare workflow; the oldest 20 started manually in test mode, the next ten by the key 2 and all others by the key 1.
 */
export async function createLongHistory(rows: number): Promise<LongHistory> {
  // Many rows in one statement, on a possibly busy machine.
  const database = await createTestDatabase({ statementTimeoutMs: 60_000 });
  const { db } = database;
  const ids = await insertWorkflow(db, 'long history');
  const { workflowId: rare } = await insertWorkflow(db, 'other');
  await db.query('UPDATE workflows SET organisation_id = $1 WHERE id = $2', [ids.organisationId, rare]);
  await db.query(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, created_at, started_at, completed_at, error, api_key_id)
     SELECT $1, CASE WHEN n % 5000 = 0 THEN $3::bigint ELSE $2::bigint END, 1,
       CASE WHEN n % 1000 = 1 THEN 'failed' WHEN n % 20 = 7 THEN 'cancelled' ELSE 'completed' END,
       CASE WHEN n <= 20 THEN 'manual' ELSE 'api' END, 'sample #' || n, n <= 20, '{"a": 1}', t, t, t,
       CASE WHEN n % 1000 = 1 THEN '{}'::json END, CASE WHEN n > 30 THEN 1 WHEN n > 20 THEN 2 END
     FROM generate_series(1, $4::integer) n,
       LATERAL (SELECT '2026-01-01T00:00:00Z'::timestamptz + n * interval '10 seconds' AS t) times
     ORDER BY n`,
    [ids.organisationId, ids.workflowId, rare, rows],
  );
  await db.query('ANALYZE executions');
  return { database, ids, rare };
}

/** Adds a large history of the same organisation, and among it 1,000 executions of a workflow of another one. @returns that one's */
export async function insertSmallAmongLarge(history: LongHistory): Promise<LongHistory> {
  const { db } = history.database;
  const small = await insertWorkflow(db, 'small');
  await db.query(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, created_at, started_at, completed_at)
     SELECT CASE WHEN n % 50 = 0 THEN $1::bigint ELSE $3::bigint END, CASE WHEN n % 50 = 0 THEN $2::bigint ELSE $4::bigint END,
       1, 'completed', 'api', 'sample', false, '{}', t, t, t
     FROM generate_series(1, 50000) n, (SELECT now() AS t) now ORDER BY n`,
    [small.organisationId, small.workflowId, history.ids.organisationId, history.ids.workflowId],
  );
  await db.query('ANALYZE executions');
  return { ...history, ids: small };
}

/** Buffers touched by the statements of `read`, executed as the organisation; `read` gets their results. */
export async function buffersOf(
  { database, ids }: LongHistory,
  read: (tx: Queryable) => Promise<unknown>,
): Promise<number> {
  return database.db.forOrganisation(ids.organisationId, async (tx) => {
    let buffers = 0;
    const counted: Queryable = {
      async query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]> {
        buffers += await explainBuffers(tx, text, values);
        return tx.query<Row>(text, values);
      },
    };
    await read(counted);
    return buffers;
  });
}
