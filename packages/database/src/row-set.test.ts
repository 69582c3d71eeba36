import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowSet } from './row-set.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

interface Row {
  readonly id: number;
  readonly text: string | null;
}

const ROWS = rowSet<Row>({ id: ['bigint', (row) => row.id], text: ['text', (row) => row.text] });

async function sentAndRead(rows: readonly Row[], name?: string, sql = ROWS.sql): Promise<unknown> {
  const read = `SELECT * FROM ${sql} AS r (${ROWS.list()}) ORDER BY id`;
  return database.db.query(read, ROWS.values(rows), name);
}

const STRANGE = ['', 'NULL', '{"a":"\\\\ \\" ,{}"}', '日本語 🦊', "' -- \n\t", '\ud800'];

describe('rowSet', () => {
  it.each([1, 20_000])('sends texts of any kind, repeated %d times, and nulls', async (times) => {
    const rows = [...STRANGE.map((text) => text.repeat(times)), null].map((text, id) => ({ id, text }));
    const stored = rows.map(({ id, text }) => ({ id, text: text?.toWellFormed() ?? null }));
    expect(await sentAndRead(rows)).toEqual(stored);
    expect(await sentAndRead(rows, undefined, ROWS.unseenSql)).toEqual(stored);
  });

  it('sends small and large texts by the same prepared statement', async () => {
    for (const times of [1, 100_000, 1]) {
      const rows = [{ id: 1, text: 'x'.repeat(times) }];
      expect(await sentAndRead(rows, 'small_and_large')).toEqual(rows);
    }
  });

  it('sends nothing for a column without values, and as many rows as there are', async () => {
    const values = ROWS.values([1, 2].map((id) => ({ id, text: null })));
    expect(values).toEqual([[1, 2], []]);
    const none = rowSet<null>({ id: ['bigint', () => undefined], text: ['text', () => null] });
    for (const sql of [none.sql, none.unseenSql]) {
      const read = `SELECT * FROM ${sql} AS r (${none.list()})`;
      expect(await database.db.query(read, none.values([null, null]))).toEqual([
        { id: null, text: null },
        { id: null, text: null },
      ]);
      expect(await database.db.query(read, none.values([]))).toEqual([]);
    }
  });

  it('sends large texts as bytes, which need no escaping, and no rows as no rows', async () => {
    expect(ROWS.values([{ id: 1, text: 'x'.repeat(100_000) }])[1]).toBeInstanceOf(Buffer);
    expect(ROWS.values([{ id: 1, text: 'x' }])[1]).toEqual(['x']);
    expect(await sentAndRead([])).toEqual([]);
  });
});
