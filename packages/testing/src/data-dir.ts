import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Copies a stopped server's folder. Owners and modes are kept: PostgreSQL runs as a separate user and requires exclusive access. */
export async function copyDataDir(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['--archive', '--reflink=auto', from, to]);
}
