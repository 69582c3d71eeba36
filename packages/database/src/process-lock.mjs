// Plain JavaScript for any Node from 20 on: it also guards the installation of everything else.
import { randomBytes } from 'node:crypto';
import { closeSync, linkSync, openSync, readdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';

/** Far more than ever wait. Others on the machine can connect, but not use up this process's file descriptors. */
const MAX_CONNECTIONS = 100;
const ANSWER_TIMEOUT_MS = 1_000;
/** The holder has ended; there is no holder yet; it ended before it accepted the connection. */
const NOBODY_LISTENS = ['ECONNREFUSED', 'ENOENT', 'ECONNRESET'];

/*
 * A lock is a Unix socket in the folder it guards. The kernel stops listening when the holder ends for any reason, so a lock is never
 * stale; and it finds the socket by its file, so processes in different containers that share the folder exclude each other. Processes
 * on different machines, which a network file system connects, don't.
 *
 * The sockets are numbered, and only the highest number counts: held while somebody listens, free when nobody does. To take the lock is
 * to create the next number, which succeeds only once. The highest is never removed; otherwise a slow process that saw it as free could
 * create it again.
 */

/**
 * Takes the lock of a folder, until `release` or the end of this process. It doesn't keep the process alive.
 * @param {string} folder existing and writable
 * @param {string} name
 * @returns {Promise<import('./process-lock.mjs').ProcessLock | null>} null: another process has it
 */
export async function takeLock(folder, name) {
  return await inFolder(folder, async (pathOf) => {
    for (;;) {
      const last = lastNumber(folder, name);
      const holder = await connectTo(pathOf(`${name}.${last}`));
      if (holder !== null) {
        holder.destroy();
        return null;
      }
      const lock = await create(folder, name, last + 1, pathOf);
      if (lock !== null) return lock;
    }
  });
}

/**
 * The process id of the lock's holder, as seen in its container; null when there is none or it doesn't respond.
 * @param {string} folder
 * @param {string} name
 * @returns {Promise<number | null>}
 */
export async function findHolder(folder, name) {
  const socket = await connectToHolder(folder, name);
  if (socket === null) return null;
  return await new Promise((resolve) => {
    // A holder that was stopped (SIGSTOP) keeps the lock but can't respond.
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => socket.destroy());
    socket.once('data', (pid) => {
      resolve(Number(pid));
      socket.destroy();
    });
    socket.once('close', () => resolve(null));
  });
}

/**
 * Runs `work` while no other process does, as far as the folder can be locked: not every file system knows sockets.
 * @template Result
 * @param {{folder: string, name: string, task: string, say: (text: string) => void}} lock `task` follows "Another process is"
 * @param {() => Promise<Result>} work
 * @returns {Promise<Result>}
 */
export async function withLock({ folder, name, task, say }, work) {
  const lock = await waitForLock(folder, name, () =>
    say(`Another process is ${task}; waiting for it ...`),
  ).catch((error) => {
    say(`${folder} can't be locked (${error.message}). Make sure that no other process is ${task}.`);
    return null;
  });
  try {
    return await work();
  } finally {
    await lock?.release();
  }
}

async function waitForLock(folder, name, onWait) {
  let isWaiting = false;
  for (;;) {
    const lock = await takeLock(folder, name);
    if (lock !== null) return lock;
    if (!isWaiting) onWait();
    isWaiting = true;
    const holder = await connectToHolder(folder, name);
    // The holder never closes the connection: it is closed when the lock is released.
    if (holder !== null) await new Promise((resolve) => holder.resume().once('close', resolve));
  }
}

async function create(folder, name, number, pathOf) {
  const connections = new Set();
  const server = createServer((socket) => {
    connections.add(socket.unref());
    socket.on('error', () => {});
    socket.on('close', () => connections.delete(socket));
    socket.write(String(process.pid));
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.unref();
  const release = () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of connections) socket.destroy();
    });
  // It gets its number once it listens: until then it would count as free.
  const unnumbered = `${name}.x${randomBytes(8).toString('hex')}`;
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path: pathOf(unnumbered), writableAll: true }, resolve);
  });
  try {
    linkSync(join(folder, unnumbered), join(folder, `${name}.${number}`));
    // Higher ones may have come and gone since the look at the folder, and this number been removed.
    if (lastNumber(folder, name) === number) {
      for (const old of numbersOf(folder, name))
        if (old < number) rmSync(join(folder, `${name}.${old}`), { force: true });
      return { release };
    }
    rmSync(join(folder, `${name}.${number}`), { force: true });
  } catch (error) {
    if (error.code !== 'EEXIST') {
      await release();
      throw error;
    }
  } finally {
    rmSync(join(folder, unnumbered), { force: true });
  }
  await release();
  return null;
}

function connectToHolder(folder, name) {
  return inFolder(folder, (pathOf) => connectTo(pathOf(`${name}.${lastNumber(folder, name)}`)));
}

/** A connection to the process that listens there; null when none does. */
function connectTo(path) {
  const socket = connect({ path });
  return new Promise((resolve, reject) => {
    socket.once('connect', () => {
      socket.removeAllListeners('error').on('error', () => {});
      resolve(socket);
    });
    socket.once('error', (error) => {
      if (NOBODY_LISTENS.includes(error.code)) resolve(null);
      else reject(error);
    });
  });
}

/** Paths of sockets have at most 107 bytes; those below /proc are short, whatever the folder's is. */
async function inFolder(folder, work) {
  const directory = openSync(folder, 'r');
  try {
    return await work((file) => `/proc/self/fd/${directory}/${file}`);
  } finally {
    closeSync(directory);
  }
}

function lastNumber(folder, name) {
  return Math.max(0, ...numbersOf(folder, name));
}

function numbersOf(folder, name) {
  return readdirSync(folder)
    .filter((file) => file.startsWith(`${name}.`))
    .map((file) => Number(file.slice(name.length + 1)))
    .filter(Number.isSafeInteger);
}
