import { randomUUID } from 'node:crypto';
import type { Queryable } from '@millrace/database/database';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { insertWorkflow } from '@millrace/testing/rows';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lookUpStarts } from '../../src/executions/store.ts';

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

test('requests for one workflow share a row, and each gets its own answer', async () => {
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
