import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { DataFolderInUseError, fileProblem } from './errors.ts';

export interface FolderLock {
  release(): Promise<void>;
}

/**
 * Makes this process the only Millrace on a data folder of this machine. The lock is an abstract Linux socket: the kernel grants it to one
 * process and releases it when that process ends for any reason, so it can be neither raced nor stale. Later processes ask the socket for
 * the holder's process id.
 * @param dataDir existing folder
 * @throws DataFolderInUseError
 */
export async function lockFolder(dataDir: string): Promise<FolderLock> {
  const path = `\0millrace-${await readLockName(dataDir)}`;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(String(process.pid));
  });
  if (!(await listen(server, path))) throw new DataFolderInUseError(dataDir, await askHolder(path));
  server.unref();
  return {
    release: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** The process id of the Millrace that uses the folder, or null. */
export async function findHolder(dataDir: string): Promise<number | null> {
  const name = await readFile(join(dataDir, 'lock-name'), 'utf8').catch(() => null);
  return name === null ? null : await askHolder(`\0millrace-${name}`);
}

/** A random name stored in the folder: it follows the folder when moved, and nobody else can guess it. */
async function readLockName(dataDir: string): Promise<string> {
  const file = join(dataDir, 'lock-name');
  const unfinished = join(dataDir, `.lock-name.${process.pid}.${randomBytes(4).toString('hex')}`);
  try {
    const present = await readFile(file, 'utf8').catch(() => '');
    if (present !== '') return present;
    await writeFile(unfinished, randomBytes(16).toString('hex'), { mode: 0o600 });
    // When several start at once, one sets the name and the others read it.
    await link(unfinished, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    return await readFile(file, 'utf8');
  } catch (error) {
    throw fileProblem('The data folder cannot be used', dataDir, error);
  } finally {
    await rm(unfinished, { force: true });
  }
}

function listen(server: Server, path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen({ path }, () => resolve(true));
  });
}

function askHolder(path: string): Promise<number | null> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect({ path });
    // A holder that was stopped (SIGSTOP) keeps the lock but can't respond.
    socket.setTimeout(1000, () => socket.destroy());
    socket.on('data', (chunk) => {
      answer += chunk.toString();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(/^\d+$/.test(answer) ? Number(answer) : null));
  });
}
