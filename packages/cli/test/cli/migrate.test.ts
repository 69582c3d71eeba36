import { releasedMigrations } from '@millrace/database/migrate';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { millrace } from './millrace.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const check = () => millrace(['migrate', '--check', '--json'], { env: { DATABASE_URL: database.url } });

it('migrate --check lists what is pending and changes nothing', async () => {
  expect(await check()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('"pending": []') });
  const last = (await releasedMigrations()).at(-1);
  await database.db.query('DELETE FROM schema_migrations WHERE version = $1', [last?.version]);
  for (let time = 0; time < 2; time += 1) {
    const run = await check();
    expect(run.exitCode).toBe(1);
    expect(JSON.parse(run.stdout)).toEqual({
      pending: [`${String(last?.version).padStart(4, '0')}_${last?.name}`],
    });
  }
  await database.db.query('DROP OWNED BY millrace');
  expect(JSON.parse((await check()).stdout).pending).toHaveLength(last?.version ?? 0);
  expect(await database.db.query(`SELECT FROM pg_class WHERE relname = 'schema_migrations'`)).toEqual([]);
});
