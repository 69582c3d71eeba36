import { statfsSync } from 'node:fs';

const MEMORY = '/dev/shm';
const DISK = '/tmp';
const GIB = 1024 ** 3;
/** A complete run keeps less than 1 GiB there. A container usually has 64 MiB. */
const MIN_SPACE = 4 * GIB;
/** It counts as memory in use, like that of all other processes. */
const MIN_MEMORY = 6 * GIB;

/** Where test servers keep their data in this process: see {@link chooseDataRoot}. */
export const DATA_ROOT = chooseDataRoot({ space: freeSpace(MEMORY), memory: process.availableMemory() });

/** Where earlier processes may have kept theirs. */
export const DATA_ROOTS = [MEMORY, DISK] as const;

/**
 * In memory, if there is enough. Each test database consists of several hundred files, and a disk's file system takes longer to create and
 * to remove them than PostgreSQL does for everything else: ext4 looks for inodes that were not used in the last seconds.
 */
export function chooseDataRoot(free: { readonly space: number; readonly memory: number }): string {
  return free.space >= MIN_SPACE && free.memory >= MIN_MEMORY ? MEMORY : DISK;
}

/** @returns 0 if there is no such folder */
function freeSpace(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
