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

/** Where the keys are when MILLRACE_SECRET_KEY is not set. */
export function keyFilePath(dataDir: string): string {
  return join(dataDir, 'secret.key');
}

/**
 * The keys in the file; none when there is no file.
 * @throws SecretError `secret_key_file` when others may read it, or it holds something else
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

/** Makes the file with a new key, unless it is there: of several processes one makes it, and all get its keys. */
export async function createKeyFile(path: string): Promise<readonly MasterKey[]> {
  // Below root's folders the embedded PostgreSQL runs as another user, who has to get through.
  await mkdir(dirname(path), { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  const written = await writeBeside(path, [newKey()]);
  try {
    // Unlike a renaming, a link never takes the place of a file that is there.
    await link(written, path);
    await syncFolder(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw fileError(path, error);
  } finally {
    await rm(written, { force: true });
  }
  return readKeyFile(path);
}

/** Puts these keys in place of those in the file; after a crash the file holds the ones or the others. */
export async function replaceKeyFile(path: string, keys: readonly MasterKey[]): Promise<void> {
  const written = await writeBeside(path, keys);
  await rename(written, path);
  await syncFolder(path);
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

/** What root makes on the command line must be readable for the user whom the service runs as. */
async function giveToOwnerOf(folder: string, file: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(folder);
  if (uid !== 0) await chown(file, uid, gid);
}

/** A name in a folder survives a power cut only once the folder itself was written. */
async function syncFolder(path: string): Promise<void> {
  await using folder = await open(dirname(path), 'r');
  await folder.sync();
}

function fileError(path: string, error: unknown): SecretError {
  const reason = error instanceof Error ? error.message : String(error);
  return new SecretError('secret_key_file', message('secrets.key_file_unusable', { path, reason }));
}
