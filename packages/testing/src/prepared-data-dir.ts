import { startEmbedded } from '@millrace/database/embedded/embedded';
import { migrate } from '@millrace/database/migrate';
import { createDatabase } from '@millrace/database/pool';
import { TEMPLATE } from './template.ts';

/** Surviving a crash of the whole machine doesn't matter here; speed does. */
export const FAST_SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  max_connections: '300',
};
/** PostgreSQL 15 doesn't know what is added here, and wouldn't start. */
export const EMBEDDED_SETTINGS = { ...FAST_SETTINGS, scram_iterations: '1' };

/** Creates a server with the template, for a run's own server and for those that tests kill. */
export async function prepareDataDir(dataDir: string): Promise<void> {
  const postgres = await startEmbedded({ dataDir, settings: EMBEDDED_SETTINGS });
  try {
    await createTemplate(postgres.superuserUrl, postgres.url);
  } finally {
    await postgres.stop();
  }
}

/**
 * Creates the migrated database that {@link createTestDatabase} copies.
 *
 * @param databaseUrl any database of the same server, as the role `millrace`
 */
export async function createTemplate(superuserUrl: string, databaseUrl: string): Promise<void> {
  const server = createDatabase(superuserUrl);
  await server.query(`CREATE DATABASE ${TEMPLATE} OWNER millrace`);
  await server.close();
  const url = new URL(databaseUrl);
  url.pathname = `/${TEMPLATE}`;
  const template = createDatabase(url.href);
  await migrate(template);
  await template.close();
}
