import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Copies that of a stopped server. Owners and modes are kept: PostgreSQL runs as a user of its own, and wants its folder for itself. */
export async function copyDataDir(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['--archive', '--reflink=auto', from, to]);
  // By this name a folder is known as the same wherever it is moved; a copy is another one.
  await rm(join(to, 'lock-name'));
}
