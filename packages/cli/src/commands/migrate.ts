import { findEmbeddedUrls, startEmbedded } from '@millrace/database/embedded/embedded';
import { migrate } from '@millrace/database/migrate';
import { createDatabase, type PgDatabase } from '@millrace/database/pool';
import { type Config, loadConfig } from '../settings/config.ts';
import { checkPooling, poolingOf } from '../start/postgres.ts';
import { readRunningService } from '../start/running-service.ts';
import type { CommandResult } from './shell.ts';

/** Applies pending migrations to the database of DATABASE_URL, else to the embedded one, which is started for this. */
export async function migrateDatabase(): Promise<CommandResult> {
  const config = loadConfig();
  if (config.databaseUrl !== null) {
    return migrateAndClose(createDatabase(config.databaseUrl, poolingOf(config)), config);
  }
  const url = await urlOfRunningService(config.dataDir);
  if (url !== null) return migrateAndClose(createDatabase(url), config);
  const server = await startEmbedded({ dataDir: config.dataDir });
  try {
    return await migrateAndClose(createDatabase(server.url), config);
  } finally {
    await server.stop();
  }
}

async function urlOfRunningService(dataDir: string): Promise<string | null> {
  if ((await readRunningService(dataDir)) === null) return null;
  return (await findEmbeddedUrls(dataDir))?.url ?? null;
}

async function migrateAndClose(db: PgDatabase, config: Config): Promise<CommandResult> {
  try {
    await checkPooling(db, config);
    const applied = await migrate(db);
    const names = applied.map(({ version, name }) => `${String(version).padStart(4, '0')}_${name}`);
    const text =
      names.length === 0 ? 'The database is up to date.' : names.map((name) => `Applied ${name}`).join('\n');
    return { json: { applied: names }, text };
  } finally {
    await db.close();
  }
}
