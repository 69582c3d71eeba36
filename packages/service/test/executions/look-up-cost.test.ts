import { randomBytes, randomUUID } from 'node:crypto';
import type { Queryable } from '@millrace/database/database';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { insertWorkflow, type WorkflowIds } from '@millrace/testing/rows';
import { buffersOfKeptPlan } from '@millrace/testing/statement-cost';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lookUpStarts } from '../../src/executions/store.ts';
import { findRecord } from '../../src/idempotency/store.ts';

const RECORDS = 20_000;
/** The workflow, its organisation, and the record. */
const MAX_BUFFERS = 40;
const FAMILY = randomUUID();

let database: TestDatabase;
let ids: WorkflowIds;
beforeEach(async () => {
  database = await createTestDatabase();
  ids = await insertWorkflow(database.db, 'keyed');
  await database.db.query('ALTER TABLE idempotency_records SET (autovacuum_enabled = off)');
});
afterEach(() => database.drop());

async function insertRecords(db: Queryable, count: number): Promise<void> {
  await db.query(
    `INSERT INTO idempotency_records (organisation_id, key_family_id, route, idempotency_key, fingerprint, status, location, body)
     SELECT $1, $2, 'route', 'key ' || n, $3, 202, '/x', '{}' FROM generate_series(1, $4::integer) n`,
    [ids.organisationId, FAMILY, randomBytes(32), count],
  );
}

const keyOf = (key: string) => ({
  ...{ organisationId: ids.organisationId, familyId: FAMILY, route: 'route', key },
  fingerprint: Buffer.alloc(32),
});

const lookUp = (db: Queryable) =>
  lookUpStarts(
    db,
    ['key 1', 'other key'].map((key) => ({
      ...{ organisationId: ids.organisationId, workflowId: ids.workflowId, idempotencyKey: keyOf(key) },
    })),
  );
const find = (db: Queryable) => findRecord(db, keyOf('key 2'));

test.each([
  ['starts', lookUp],
  ['one record', find],
])('looking up %s costs no more once there are many records', async (_name, send) => {
  const { db } = database;
  // Without statistics, and with those of a table that held many and was emptied.
  expect(await buffersOfKeptPlan(db, send, (tx) => insertRecords(tx, RECORDS))).toBeLessThan(MAX_BUFFERS);
  await insertRecords(db, RECORDS);
  await db.query('DELETE FROM idempotency_records');
  await db.query('VACUUM (ANALYZE) idempotency_records');
  expect(await buffersOfKeptPlan(db, send, (tx) => insertRecords(tx, RECORDS))).toBeLessThan(MAX_BUFFERS);
});
