import { randomBytes } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { RefusedError, UsageError } from './shell.ts';
import { unreadable } from './unreadable.ts';

/** Names standard input or output where a command expects a file. */
export const STANDARD = '-';

/**
 * Passes `write` a stream to a private file, which appears under its name, or replaces the one there, only once it is complete and on disk.
 * @throws RefusedError `file_not_written`
 */
export async function writeWhole<T>(path: string, write: (out: Writable) => Promise<T>): Promise<T> {
  if (path === STANDARD) return await write(process.stdout);
  const unfinished = `${path}.${randomBytes(6).toString('hex')}.part`;
  try {
    const file = await open(unfinished, 'wx', 0o600).catch(notWritten);
    // Syncs the file before it closes it.
    const out = file.createWriteStream({ flush: true });
    const result = await write(out).catch((error: NodeJS.ErrnoException) => {
      // Whoever fails before the first byte leaves it open.
      out.destroy();
      return error.code === 'ENOSPC' || error.code === 'EIO' ? notWritten(error) : Promise.reject(error);
    });
    await rename(unfinished, path).catch(notWritten);
    await using folder = await open(dirname(path), 'r');
    await folder.sync();
    return result;
  } finally {
    await rm(unfinished, { force: true });
  }
}

function notWritten(error: Error): never {
  throw new RefusedError('file_not_written', `Couldn't write the backup: ${error.message}`);
}

/** @throws RefusedError `file_unreadable` */
export async function openSource(path: string): Promise<Readable> {
  if (path === STANDARD) return process.stdin;
  try {
    return (await open(path, 'r')).createReadStream();
  } catch (error) {
    throw unreadable(error);
  }
}

/** @throws RefusedError `file_unreadable`, UsageError `empty_passphrase` */
export async function readPassphrase(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw unreadable(error);
  });
  const [line = ''] = text.split(/\r?\n/);
  if (line === '') throw new UsageError('empty_passphrase', `${path} has no passphrase in its first line.`);
  return line;
}
