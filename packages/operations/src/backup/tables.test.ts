import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listTables } from './catalog.ts';
import { PLAIN_NUMBERS, REFERENCES } from './moved-references.ts';
import { NOT_MOVED } from './organisation-rows.ts';
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

test('of every number of an organisation it is known whether it is the id of a row, and of which', async () => {
  const columns = await database.db.query<{ name: string; refers_to: string | null }>(
    `SELECT DISTINCT a.attname::text AS name, (
       SELECT f.confrelid::regclass::text FROM pg_constraint f, unnest(f.conkey, f.confkey) AS k (here, there)
         JOIN pg_attribute i ON i.attnum = k.there AND i.attname = 'id'
       WHERE f.contype = 'f' AND f.conrelid = c.oid AND k.here = a.attnum AND i.attrelid = f.confrelid LIMIT 1) AS refers_to
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> 'id'
       AND a.atttypid IN ('bigint'::regtype, 'bigint[]'::regtype)
     WHERE c.relname = ANY ($1::text[]) AND EXISTS (
       SELECT FROM pg_attribute o WHERE o.attrelid = c.oid AND o.attname = 'organisation_id')`,
    [Object.keys(TABLES).filter((name) => TABLES[name] === 'kept' && !NOT_MOVED.has(name))],
  );
  const unknown = columns.filter(({ name }) => !Object.hasOwn(REFERENCES, name) && !PLAIN_NUMBERS.has(name));
  expect(unknown).toEqual([]);
  const wrong = columns.filter(({ name, refers_to: table }) => table !== null && REFERENCES[name] !== table);
  expect(wrong).toEqual([]);
});
