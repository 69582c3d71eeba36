import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { migrateWithin } from '@millrace/database/migrate';
import { createDatabase, type PgDatabase } from '@millrace/database/pool';
import { createTestDatabase } from './database.ts';

export interface VectorDatabase {
  readonly db: PgDatabase;
  /** A superuser may do what the service's role may not: add and drop the extension. */
  asSuperuser(statement: string): Promise<void>;
  drop(): Promise<void>;
}

/**
 * A database with the whole schema on a server that has pgvector: the server of the run if that has it, else one of its own in WebAssembly. The
 * extension hasn't been added.
 */
export async function createVectorDatabase(): Promise<VectorDatabase> {
  const database = await createTestDatabase({ maxSessions: 20 });
  const [row] = await database.db.query<{ state: string }>('SELECT vector_extension_state() AS state');
  if (row?.state !== 'missing') {
    const superuser = createDatabase(database.superuserUrl, { lanes: 1 });
    return {
      db: database.db,
      asSuperuser: async (statement) => void (await superuser.query(statement)),
      async drop() {
        await superuser.close();
        await database.drop();
      },
    };
  }
  await database.drop();
  return startPglite();
}

async function startPglite(): Promise<VectorDatabase> {
  const file = fileURLToPath(new URL('./pglite-server.ts', import.meta.url));
  const server = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = await once(server.stdout, 'data');
  const db = createDatabase(`postgres://postgres@127.0.0.1:${String(port).trim()}/postgres`, {
    // All of them are one session there.
    lanes: 1,
    maxSessions: 4,
    acquireTimeoutMs: 60_000,
    connectTimeoutMs: 60_000,
  });
  await db.transaction((tx) => migrateWithin(tx));
  return {
    db,
    asSuperuser: async (statement) => void (await db.query(statement)),
    async drop() {
      await db.close();
      server.stdin.end();
      await once(server, 'exit');
    },
  };
}
