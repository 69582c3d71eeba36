import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listTables } from './catalog.ts';
import { TABLES } from './tables.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('every table is either in backups or left out of them, by decision', async () => {
  const names = (await listTables(database.db)).map(({ name }) => name);
  expect(Object.keys(TABLES).toSorted()).toEqual(names.toSorted());
});
