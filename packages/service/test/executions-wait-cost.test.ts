import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { buffersOf, type LongHistory } from '@millrace/testing/list-cost';
import { insertExecution, insertWorkflow, type WorkflowIds } from '@millrace/testing/rows';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findOnceEnded, findStatus } from '../src/executions/store.ts';

let database: TestDatabase;
let ids: WorkflowIds;
let executionId: number;
beforeAll(async () => {
  database = await createTestDatabase();
  ids = await insertWorkflow(database.db, 'waited for');
  executionId = await insertExecution(database.db, ids);
  await database.db.query(
    `WITH w AS (
       INSERT INTO workers (id, host, pid, lease_expires_at)
       VALUES (gen_random_uuid(), 'h', 1, now() + interval '1 hour') RETURNING id
     )
     UPDATE executions e SET status = 'running', started_at = created_at, worker_id = w.id FROM w WHERE e.id = $1`,
    [executionId],
  );
  await database.db.query(
    `INSERT INTO execution_checkpoints (execution_id, seq, organisation_id, records)
     SELECT $1, n, $2, json_build_array(json_build_object('text', (SELECT string_agg(md5(n || '.' || m), '') FROM generate_series(1, 50) m)))
     FROM generate_series(1, 1000) n`,
    [executionId, ids.organisationId],
  );
  await database.db.query('ANALYZE execution_checkpoints');
});
afterAll(() => database.drop());

test('waiting for an execution with many records costs as much as its status, until it has ended', async () => {
  const history = { database, ids } as LongHistory;
  const { organisationId } = ids;
  const once = () => buffersOf(history, (tx) => findOnceEnded(tx, organisationId, executionId));
  const status = await buffersOf(history, (tx) => findStatus(tx, organisationId, executionId));
  expect(await once()).toBeLessThan(status + 10);
  await database.db.query(
    "UPDATE executions SET status = 'completed', worker_id = NULL, completed_at = now(), checkpoint_seq = 1000 WHERE id = $1",
    [executionId],
  );
  expect(await once()).toBeGreaterThan(100);
  const found = await database.db.readForOrganisation(organisationId, (tx) =>
    findOnceEnded(tx, organisationId, executionId),
  );
  expect(found).toMatchObject({ status: 'completed', ended: { id: executionId } });
  expect(JSON.parse(found?.ended?.chunks ?? '[]')).toHaveLength(1000);
});
