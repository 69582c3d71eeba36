import { execFile } from 'node:child_process';
import { mkdir, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DATA_ON_DISK, freshFolder } from '../faults/support/folders.ts';

const run = promisify(execFile);
const BALLAST = 'ballast';

/** A small file system of its own that can be filled. */
export class Disk {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Null where file systems may not be mounted. */
  static async mount(mebibytes: number): Promise<Disk | null> {
    const folder = freshFolder('disk');
    await mkdir(folder);
    try {
      await run('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=0755`, 'tmpfs', folder]);
    } catch {
      return null;
    }
    return new Disk(folder);
  }

  /** Where a server's data goes. */
  get dataDir(): string {
    return join(this.#folder, DATA_ON_DISK);
  }

  /** Leaves not a byte. */
  async fill(): Promise<void> {
    const { bavail, bsize } = await statfs(this.#folder);
    // What the server writes meanwhile makes the last one fail, with the disk full.
    await run('fallocate', ['--length', String(bavail * bsize), join(this.#folder, BALLAST)]).catch(() => {});
  }

  async free(): Promise<void> {
    await rm(join(this.#folder, BALLAST), { force: true });
  }
}
