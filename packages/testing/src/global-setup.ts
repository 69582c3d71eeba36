import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { clusterFolder } from '@millrace/database/embedded/cluster';
import { startEmbedded } from '@millrace/database/embedded/embedded';
import { findPostmaster, stopPostmaster } from '@millrace/database/embedded/postmaster';
import type { TestProject } from 'vitest/node';
import { copyDataDir } from './data-dir.ts';
import { DATA_ROOT, DATA_ROOTS } from './data-root.ts';
import { EMBEDDED_SETTINGS, prepareDataDir } from './prepared-data-dir.ts';
import { isRunning } from './processes.ts';

/** One per user, so that users don't block each other. */
const NAME = `millrace-tests-${process.getuid?.() ?? 0}`;

/** Starts one PostgreSQL for all test files and prepares the database that {@link createTestDatabase} copies. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  for (const root of DATA_ROOTS) await sweepAbandoned(join(root, NAME));
  const folder = join(DATA_ROOT, NAME, String(process.pid));
  await mkdir(dirname(folder), { recursive: true });
  const preparedDataDir = join(folder, 'prepared');
  await prepareDataDir(preparedDataDir);
  const dataDir = join(folder, 'server');
  await copyDataDir(preparedDataDir, dataDir);
  const postgres = await startEmbedded({ dataDir, settings: EMBEDDED_SETTINGS });
  // The runner may end without running its teardown; the server must not outlive it.
  const killServer = () => process.kill(postgres.pid, 'SIGQUIT');
  process.once('exit', killServer);
  project.provide('preparedDataDir', preparedDataDir);
  project.provide('superuserUrl', postgres.superuserUrl);
  project.provide('databaseUrl', postgres.url);
  return async () => {
    process.off('exit', killServer);
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  };
}

/** Removes what killed runs left behind: their folders are named after processes that are gone. */
async function sweepAbandoned(root: string): Promise<void> {
  for (const name of await readdir(root).catch(() => [])) {
    // A folder of this process's id is that of an earlier one.
    if (Number(name) !== process.pid && isRunning(Number(name))) continue;
    const folder = join(root, name);
    try {
      for (const server of await readdir(folder)) {
        const postmaster = await findPostmaster(clusterFolder(join(folder, server)));
        if (postmaster !== null) await stopPostmaster(postmaster);
      }
      await rm(folder, { recursive: true, force: true });
    } catch {
      // The next run tries again.
    }
  }
}
