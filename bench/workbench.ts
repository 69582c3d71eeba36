import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '../packages/database/src/embedded/embedded.ts';
import { migrate } from '../packages/database/src/migrate.ts';
import { createDatabase } from '../packages/database/src/pool.ts';
import { ensureArtefact } from '../tools/artefact.mjs';
import { clearAtExit } from './end-with-us.ts';
import { LoadProcess } from './load-client.ts';
import type { Bench, Extent } from './row.ts';

/** Everything rows need, with its cleanup. */
export interface Workbench extends Bench {
  /** The version reported by the server. */
  readonly postgresVersion: string;
  /** Stops the started processes and deletes written files. */
  close(): Promise<void>;
}

/**
 * Starts PostgreSQL as the service embeds it, with its durable settings, on an empty folder, and the load generator.
 *
 * @param progress called for slow steps
 * @param keptFolder where PostgreSQL's data stay, to be used again by the next run; null: a folder that is deleted at the end
 */
export async function openWorkbench(
  effort: Extent,
  progress: (text: string) => void,
  keptFolder: string | null = null,
): Promise<Workbench> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  // If started by root, PostgreSQL runs as another user, who needs access to its data below this folder.
  await chmod(folder, 0o755);
  const dataDir = keptFolder ?? join(folder, 'postgres');
  clearAtExit(folder, dataDir);
  const postgres = await startEmbedded({ dataDir, progress });
  const db = createDatabase(postgres.url, { applicationName: 'bench', statementTimeoutMs: 120_000 });
  const superuser = createDatabase(postgres.superuserUrl, { applicationName: 'bench' });
  const load = new LoadProcess();
  const databases = new Map<string, string>();
  await migrate(db);
  const [version] = await db.query<{ server_version: string }>('SHOW server_version');
  let folders = 0;
  return {
    effort,
    databaseUrl: postgres.url,
    keptFolder,
    postgresPid: postgres.pid,
    postgresVersion: version?.server_version ?? 'unknown',
    db,
    load,
    progress,
    async createDatabase(name) {
      if (!databases.has(name)) {
        await superuser.exclusive(async (session) => {
          const [existing] = await session.query('SELECT FROM pg_database WHERE datname = $1', [name]);
          if (existing === undefined) await session.query(`CREATE DATABASE ${name} OWNER millrace`);
        });
        databases.set(name, postgres.url.replace('/millrace?', `/${name}?`));
      }
      return databases.get(name) ?? '';
    },
    artefact: () => ensureArtefact(progress),
    async createFolder(name) {
      folders += 1;
      const path = join(folder, `${folders}-${name}`);
      await mkdir(path);
      return path;
    },
    async close() {
      load.close();
      await Promise.all([db.close(), superuser.close()]);
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
