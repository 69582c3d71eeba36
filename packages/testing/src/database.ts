import { randomBytes } from 'node:crypto';
import { createDatabase, type DatabaseOptions, type PgDatabase } from '@millrace/database/pool';
import { inject } from 'vitest';
import { TEMPLATE } from './template.ts';

export interface TestDatabase {
  /** Connects as `millrace`, the owner but not a superuser: row-level security applies. */
  readonly url: string;
  /** Connects as superuser, to end connections and bypass row-level security. */
  readonly superuserUrl: string;
  readonly db: PgDatabase;
  /** Closes `db` and drops the database, even with open connections. */
  drop(): Promise<void>;
}

/**
 * A separate database with the whole schema and no rows, copied from a migrated template.
 *
 * @param options how `db` connects; few connections by default, because many test databases share one server
 */
export async function createTestDatabase(options: DatabaseOptions = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await asSuperuser(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE} OWNER millrace STRATEGY file_copy`);
  const url = urlOf(serverUrl('databaseUrl'), name);
  const db = createDatabase(url, { lanes: 2, maxSessions: 8, ...PATIENT, ...options });
  return {
    url,
    superuserUrl: urlOf(serverUrl('superuserUrl'), name),
    db,
    async drop() {
      await db.close();
      await asSuperuser(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/** A busy machine may take its time: nothing is refused because a connection had to be waited for. */
const PATIENT = { acquireTimeoutMs: 60_000, connectTimeoutMs: 60_000 };

/** Of this process, and never closed: to open a connection takes the server and this process longer than to copy a database. */
let superuser: PgDatabase | undefined;

async function asSuperuser(statement: string): Promise<void> {
  superuser ??= createDatabase(serverUrl('superuserUrl'), {
    ...PATIENT,
    lanes: 1,
    statementTimeoutMs: 60_000,
  });
  await superuser.query(statement);
}

/** A run of unit tests starts no PostgreSQL. */
function serverUrl(name: 'databaseUrl' | 'superuserUrl'): string {
  const url: string | undefined = inject(name);
  if (url === undefined)
    throw new Error('This test needs PostgreSQL, and this run started none: use npm test.');
  return url;
}

function urlOf(base: string, database: string): string {
  const url = new URL(base);
  url.pathname = `/${database}`;
  return url.href;
}
