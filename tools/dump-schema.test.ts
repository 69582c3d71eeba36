import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../packages/testing/src/database.ts';
import { dumpSchema, SCHEMA_FILE } from './dump-schema.ts';

test('schema.sql is the result of the migrations, and creates the same schema again', async () => {
  const database = await createTestDatabase();
  const { db } = database;
  const written = await readFile(SCHEMA_FILE, 'utf8');
  expect(await dumpSchema(db)).toBe(written);

  await db.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  await db.transaction((tx) => tx.query(written));
  expect(await dumpSchema(db)).toBe(written);
  await database.drop();
});
