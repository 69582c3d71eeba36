import { appendFileSync, mkdirSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { clusterFolder } from '@millrace/database/embedded/cluster';
import { findPostmaster, stopPostmaster } from '@millrace/database/embedded/postmaster';

/** One per user: files left behind by root must not block another user. */
const ROOT = `/tmp/millrace-faults-${process.getuid?.() ?? 'all'}`;
const PIDS = 'services.pids';

/** A new path in a folder that belongs to this process; only the parent is created. */
export function freshFolder(name: string): string {
  const parent = join(ROOT, String(process.pid));
  mkdirSync(parent, { recursive: true });
  freshCount += 1;
  return join(parent, `${name}-${freshCount}`);
}

let freshCount = 0;

/** Records a started process, so that the next run can end it if this one is killed. */
export function rememberProcess(pid: number): void {
  mkdirSync(join(ROOT, String(process.pid)), { recursive: true });
  appendFileSync(join(ROOT, String(process.pid), PIDS), `${pid}\n`);
}

/** Ends and removes what killed runs left behind: their folders are named after processes that are gone. */
export async function sweepAbandoned(): Promise<void> {
  for (const owner of await readdir(ROOT).catch(() => [])) {
    if (isRunning(Number(owner))) continue;
    const folder = join(ROOT, owner);
    for (const line of (await readFile(join(folder, PIDS), 'utf8').catch(() => '')).split('\n')) {
      // The id may have been reused; our processes have the folder's owner in their environment.
      const environment = await readFile(`/proc/${line}/environ`, 'utf8').catch(() => '');
      if (environment.split('\0').includes(`${OWNER_VARIABLE}=${owner}`))
        process.kill(Number(line), 'SIGKILL');
    }
    for (const name of await readdir(folder).catch(() => [])) {
      const postmaster = await findPostmaster(clusterFolder(join(folder, name))).catch(() => null);
      if (postmaster !== null) await stopPostmaster(postmaster);
    }
    await rm(folder, { recursive: true, force: true });
  }
}

/** Marks the processes that tests start; not a setting of the service. */
export const OWNER_VARIABLE = 'FAULT_TEST_OWNER';

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
