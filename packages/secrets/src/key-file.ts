import { randomBytes } from 'node:crypto';
import { chown, link, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { message } from '@millrace/messages';
import { SecretError } from './errors.ts';
import { formatSecretKey, KEY_BYTES, parseSecretKey } from './key-text.ts';
import { type MasterKey, masterKey } from './sealed.ts';

const HEAD = [
  '# Keys of the credentials stored by Millrace, one a line. Without this file they cannot be read:',
  '# keep a copy in a safe place, apart from backups of the database.',
];

/** Where the keys are stored when MILLRACE_SECRET_KEY isn't set. */
export function keyFilePath(dataDir: string): string {
  return join(dataDir, 'secret.key');
}

/**
 * The keys in the file; empty when there is no file.
 * @throws SecretError `secret_key_file` when others may read it, or its content is invalid
 */
export async function readKeyFile(path: string): Promise<readonly MasterKey[]> {
  const text = await readPrivately(path);
  const lines = (text ?? '').split('\n').map((line) => line.trim());
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const key = parseSecretKey(line);
      if (key !== undefined) return masterKey(key);
      throw new SecretError('secret_key_file', message('secrets.key_file_line', { path }));
    });
}

/** Creates the file with a new key unless it exists: if several processes try, one creates it and all get its keys. */
export async function createKeyFile(path: string): Promise<readonly MasterKey[]> {
  // As root, the embedded PostgreSQL runs as another user, who has to be able to traverse these folders.
  await mkdir(dirname(path), { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  const written = await writeBeside(path, [newKey()]);
  try {
    // Unlike rename, link never replaces an existing file.
    await link(written, path);
    await syncFolder(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw fileError(path, error);
  } finally {
    await rm(written, { force: true });
  }
  return readKeyFile(path);
}

/** Replaces the keys in the file; after a crash it contains either the old or the new ones. */
export async function replaceKeyFile(path: string, keys: readonly MasterKey[]): Promise<void> {
  const written = await writeBeside(path, keys);
  await rename(written, path);
  await syncFolder(path);
}

/**
 * Makes sure the file has all of these keys: writes it if there is none.
 * @returns false if there is one that lacks some of them, which stays as it is
 */
export async function adoptKeyFile(path: string, keys: readonly MasterKey[]): Promise<boolean> {
  const present = await readKeyFile(path);
  if (present.length > 0) {
    const ids = new Set(present.map(({ id }) => id));
    return keys.every(({ id }) => ids.has(id));
  }
  await mkdir(dirname(path), { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  await replaceKeyFile(path, keys);
  return true;
}

export function newKey(): MasterKey {
  return masterKey(randomBytes(KEY_BYTES));
}

async function readPrivately(path: string): Promise<string | null> {
  try {
    await using file = await open(path, 'r');
    const { mode } = await file.stat();
    if ((mode & 0o077) !== 0) {
      const shown = (mode & 0o777).toString(8).padStart(4, '0');
      throw new SecretError('secret_key_file', message('secrets.key_file_readable', { path, mode: shown }));
    }
    return await file.readFile('utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error instanceof SecretError ? error : fileError(path, error);
  }
}

async function writeBeside(path: string, keys: readonly MasterKey[]): Promise<string> {
  const written = `${path}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`;
  const text = `${[...HEAD, ...keys.map(({ bytes }) => formatSecretKey(bytes))].join('\n')}\n`;
  try {
    await using file = await open(written, 'wx', 0o600);
    await file.writeFile(text);
    await file.sync();
    await giveToOwnerOf(dirname(path), written);
    return written;
  } catch (error) {
    await rm(written, { force: true });
    throw fileError(path, error);
  }
}

/** A file that root creates on the command line must be readable by the user the service runs as. */
async function giveToOwnerOf(folder: string, file: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(folder);
  if (uid !== 0) await chown(file, uid, gid);
}

/** A directory entry survives a power failure only once the directory itself has been synced. */
async function syncFolder(path: string): Promise<void> {
  await using folder = await open(dirname(path), 'r');
  await folder.sync();
}

function fileError(path: string, error: unknown): SecretError {
  const reason = error instanceof Error ? error.message : String(error);
  return new SecretError('secret_key_file', message('secrets.key_file_unusable', { path, reason }));
}
