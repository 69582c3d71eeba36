import { findEmbeddedUrls, startEmbedded } from '@millrace/database/embedded/embedded';
import { type Migration, migrate, pendingMigrations } from '@millrace/database/migrate';
import { createDatabase, type PgDatabase } from '@millrace/database/pool';
import { addExtension } from '@millrace/ports/vectors/index-store';
import { type Config, loadConfig } from '../settings/config.ts';
import { checkPooling, poolingOf } from '../start/postgres.ts';
import { readRunningService } from '../start/running-service.ts';
import type { CommandResult } from './shell.ts';

/**
 * Applies pending migrations to the database of DATABASE_URL, else to the embedded one, which is started for this.
 * @param options.check only lists them, and counts as failed if there are any
 */
export async function migrateDatabase(options: { readonly check?: boolean }): Promise<CommandResult> {
  const run = options.check === true ? checkAndClose : migrateAndClose;
  const config = loadConfig();
  if (config.databaseUrl !== null) {
    return run(createDatabase(config.databaseUrl, poolingOf(config)), config);
  }
  const url = await urlOfRunningService(config.dataDir);
  if (url !== null) return run(createDatabase(url), config);
  const server = await startEmbedded({ dataDir: config.dataDir });
  try {
    return await run(createDatabase(server.url), config);
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
    const names = (await migrate(db)).map(fileName);
    // Who migrates may be who may do this, and who runs the service not.
    await addExtension(db);
    const text =
      names.length === 0 ? 'The database is up to date.' : names.map((name) => `Applied ${name}`).join('\n');
    return { json: { applied: names }, text };
  } finally {
    await db.close();
  }
}

async function checkAndClose(db: PgDatabase): Promise<CommandResult> {
  try {
    const names = (await pendingMigrations(db)).map(fileName);
    const text =
      names.length === 0 ? 'The database is up to date.' : names.map((name) => `Pending: ${name}`).join('\n');
    return { json: { pending: names }, text, isFailure: names.length > 0 };
  } finally {
    await db.close();
  }
}

function fileName({ version, name }: Pick<Migration, 'version' | 'name'>): string {
  return `${String(version).padStart(4, '0')}_${name}`;
}
