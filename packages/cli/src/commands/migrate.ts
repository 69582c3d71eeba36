import { findEmbeddedUrls, startEmbedded } from '@millrace/database/embedded/embedded';
import { migrate } from '@millrace/database/migrate';
import { createDatabase, type PgDatabase } from '@millrace/database/pool';
import { isPooledByTransaction } from '@millrace/database/transaction-pooling';
import { loadConfig } from '../settings/config.ts';
import { transactionPooling } from '../start/postgres.ts';
import { readRunningService } from '../start/running-service.ts';
import type { CommandResult } from './shell.ts';

/** Applies pending migrations to the database of DATABASE_URL, else to the embedded one, which is started for this. */
export async function migrateDatabase(): Promise<CommandResult> {
  const config = loadConfig();
  const url = config.databaseUrl ?? (await urlOfRunningService(config.dataDir));
  if (url !== null) return migrateAndClose(createDatabase(url));
  const server = await startEmbedded({ dataDir: config.dataDir });
  try {
    return await migrateAndClose(createDatabase(server.url));
  } finally {
    await server.stop();
  }
}

async function urlOfRunningService(dataDir: string): Promise<string | null> {
  if ((await readRunningService(dataDir)) === null) return null;
  return (await findEmbeddedUrls(dataDir))?.url ?? null;
}

async function migrateAndClose(db: PgDatabase): Promise<CommandResult> {
  try {
    if (await isPooledByTransaction(db)) throw transactionPooling();
    const applied = await migrate(db);
    const names = applied.map(({ version, name }) => `${String(version).padStart(4, '0')}_${name}`);
    const text =
      names.length === 0 ? 'The database is up to date.' : names.map((name) => `Applied ${name}`).join('\n');
    return { json: { applied: names }, text };
  } finally {
    await db.close();
  }
}
