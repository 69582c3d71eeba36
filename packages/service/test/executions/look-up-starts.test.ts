import { randomUUID } from 'node:crypto';
import type { Queryable } from '@millrace/database/database';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { insertWorkflow } from '@millrace/testing/rows';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lookUpAddresses, lookUpStarts } from '../../src/executions/store.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Counts the rows that the database returns. */
function counting(): { readonly db: Queryable; readonly rows: () => number } {
  let count = 0;
  const db: Queryable = {
    async query<Row>(text: string, values?: readonly unknown[], name?: string): Promise<Row[]> {
      const rows = await database.db.query<Row>(text, values, name);
      count += rows.length;
      return rows;
    },
  };
  return { db, rows: () => count };
}

test('requests for one workflow share a row, and each gets its own result', async () => {
  const first = await insertWorkflow(database.db, 'first');
  const second = await insertWorkflow(database.db, 'second');
  const { organisationId } = first;
  const withKey = (key: string) => ({
    ...first,
    idempotencyKey: {
      organisationId,
      familyId: randomUUID(),
      route: 'POST /',
      key,
      fingerprint: Buffer.alloc(32),
    },
  });
  const plain = { ...first, idempotencyKey: null };
  const other = { ...second, idempotencyKey: null };
  const foreign = { organisationId, workflowId: second.workflowId, idempotencyKey: null };
  const requests = [plain, other, plain, withKey('a'), foreign, plain, withKey('b'), other];

  const { db, rows } = counting();
  const found = await lookUpStarts(db, requests);

  expect(rows()).toBe(5);
  expect(found.map(({ workflow }) => workflow?.id ?? null)).toEqual(
    requests.map((request) => (request === foreign ? null : request.workflowId)),
  );
  const ids = found.filter(({ workflow }) => workflow !== null).map(({ executionId }) => executionId);
  expect(new Set(ids).size).toBe(7);
  expect(found[4]?.executionId).toBe(0);
});

test.each([
  [
    'look_up_starts',
    (db: Queryable) => lookUpStarts(db, [{ organisationId: 1, workflowId: 1, idempotencyKey: null }]),
  ],
  ['look_up_addresses', (db: Queryable) => lookUpAddresses(db, [{ hash: 'none', trigger: 'webhook' }])],
] as const)("%s isn't planned anew each time it looks up a single start", async (name, lookUp) => {
  await database.db.transaction(async (tx) => {
    for (let sent = 0; sent < 12; sent += 1) await lookUp(tx);
    const [plans] = await tx.query<{ generic: number; custom: number }>(
      'SELECT generic_plans AS generic, custom_plans AS custom FROM pg_prepared_statements WHERE name = $1',
      [name],
    );
    // PostgreSQL plans it five times before it may keep a plan.
    expect(plans).toEqual({ generic: 7, custom: 5 });
  });
});
