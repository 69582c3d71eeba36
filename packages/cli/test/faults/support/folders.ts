import { execFile } from 'node:child_process';
import { appendFileSync, mkdirSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { clusterFolder } from '@millrace/database/embedded/cluster';
import { findPostmaster, stopPostmaster } from '@millrace/database/embedded/postmaster';
import { DATA_ROOT, DATA_ROOTS } from '@millrace/testing/data-root';
import { isRunning } from '@millrace/testing/processes';

/** One per user: files left behind by root must not block another user. */
const NAME = `millrace-faults-${process.getuid?.() ?? 'all'}`;
const OWN_FOLDER = join(DATA_ROOT, NAME, String(process.pid));
const PIDS = 'services.pids';
/** Data folder of a server on a file system of its own, below where that is mounted. */
export const DATA_ON_DISK = 'cluster';

/** A new path in a folder that belongs to this process; only the parent is created. */
export function freshFolder(name: string): string {
  mkdirSync(OWN_FOLDER, { recursive: true });
  freshCount += 1;
  return join(OWN_FOLDER, `${name}-${freshCount}`);
}

let freshCount = 0;

/** Removes everything in the folder that belongs to this process. */
export async function removeOwnFolder(): Promise<void> {
  await removeFolder(OWN_FOLDER);
}

/** File systems that were mounted in it are unmounted first. */
async function removeFolder(folder: string): Promise<void> {
  const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' ')[1] ?? '');
  for (const mount of mounts.filter((path) => path.startsWith(`${folder}/`))) {
    await promisify(execFile)('umount', ['--lazy', mount]);
  }
  await rm(folder, { recursive: true, force: true });
}

/** Records a started process, so that the next run can end it if this one is killed. */
export function rememberProcess(pid: number): void {
  mkdirSync(OWN_FOLDER, { recursive: true });
  appendFileSync(join(OWN_FOLDER, PIDS), `${pid}\n`);
}

/** Ends and removes what killed runs left behind: their folders are named after processes that are gone. */
export async function sweepAbandoned(): Promise<void> {
  for (const root of DATA_ROOTS.map((each) => join(each, NAME))) {
    for (const owner of await readdir(root).catch(() => [])) {
      // A folder of this process's id is that of an earlier one until it has made one itself.
      if (Number(owner) === process.pid ? freshCount > 0 : isRunning(Number(owner))) continue;
      // Another process may be sweeping the same one; what is left is for the next.
      await sweep(join(root, owner), owner).catch(() => {});
    }
  }
}

async function sweep(folder: string, owner: string): Promise<void> {
  for (const line of (await readFile(join(folder, PIDS), 'utf8').catch(() => '')).split('\n')) {
    // The id may have been reused; our processes have the folder's owner in their environment.
    const environment = await readFile(`/proc/${line}/environ`, 'utf8').catch(() => '');
    if (environment.split('\0').includes(`${OWNER_VARIABLE}=${owner}`)) process.kill(Number(line), 'SIGKILL');
  }
  for (const name of await readdir(folder).catch(() => [])) {
    for (const dataDir of [join(folder, name), join(folder, name, DATA_ON_DISK)]) {
      const postmaster = await findPostmaster(clusterFolder(dataDir)).catch(() => null);
      if (postmaster !== null) await stopPostmaster(postmaster);
    }
  }
  await removeFolder(folder);
}

/** Marks the processes that tests start; not a setting of the service. */
export const OWNER_VARIABLE = 'FAULT_TEST_OWNER';
