import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readdir, readFile, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Account } from './account.ts';
import { EmbeddedPostgresError } from './errors.ts';

const POLL_MS = 20;
const FAST_STOP_MS = 30_000;
const IMMEDIATE_STOP_MS = 5000;

/** The main process of a running server. */
export interface Postmaster {
  readonly pid: number;
  /** True when it was already running rather than started. */
  readonly adopted: boolean;
  /** The process that was started here; null when adopted. */
  readonly child: ChildProcess | null;
}

/**
 * The server running on a cluster folder, if any: left behind by a process that was killed. The process id in postmaster.pid may have been
 * reused by another program since, so its working directory must be the folder.
 */
export async function findPostmaster(cluster: string): Promise<Postmaster | null> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(text.split('\n', 1)[0]);
  if (!Number.isInteger(pid) || pid <= 1) return null;
  return (await standsIn(pid, cluster)) ? { pid, adopted: true, child: null } : null;
}

export interface Launch {
  /** The `postgres` executable. */
  readonly binary: string;
  readonly cluster: string;
  readonly socketDir: string;
  readonly account: Account | null;
  /** Receives the server's output until its own log is open. */
  readonly logFile: string;
}

/** Starts the server in a separate session, so that the terminal's Ctrl-C and hang-up don't reach it. */
export async function spawnPostmaster(launch: Launch): Promise<Postmaster> {
  const { binary, cluster, account } = launch;
  await clearStaleFiles(cluster, launch.socketDir);
  const log = openSync(launch.logFile, 'w', 0o600);
  try {
    const child = spawn(binary, ['-D', cluster], {
      cwd: cluster,
      detached: true,
      stdio: ['ignore', log, log],
      env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
      ...(account === null ? {} : { uid: account.uid, gid: account.gid }),
    });
    await new Promise((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    child.unref();
    if (child.pid === undefined) throw new Error('the process has no id');
    return { pid: child.pid, adopted: false, child };
  } catch (cause) {
    throw new EmbeddedPostgresError(`PostgreSQL cannot be started (${binary}): ${String(cause)}`, { cause });
  } finally {
    closeSync(log);
  }
}

/** True while the process runs; a zombie doesn't count. */
export async function isAlive({ pid, child }: Postmaster): Promise<boolean> {
  if (child !== null) return child.exitCode === null && child.signalCode === null;
  const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return state !== '' && !/^\d+ \(.*\) [ZX]/s.test(state);
}

/** Stops the server: fast (open transactions are rolled back), then forcibly if that takes too long. */
export async function stopPostmaster(postmaster: Postmaster): Promise<void> {
  const steps: [NodeJS.Signals, number][] = [
    ['SIGINT', FAST_STOP_MS],
    ['SIGQUIT', IMMEDIATE_STOP_MS],
    ['SIGKILL', IMMEDIATE_STOP_MS],
  ];
  for (const [signal, waitMs] of steps) {
    if (!(await isAlive(postmaster))) return;
    try {
      process.kill(postmaster.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return;
      throw error;
    }
    const giveUpAt = performance.now() + waitMs;
    while (performance.now() < giveUpAt) {
      if (!(await isAlive(postmaster))) return;
      await pause(POLL_MS);
    }
  }
  throw new EmbeddedPostgresError(`PostgreSQL (process ${postmaster.pid}) does not stop`);
}

/**
 * Before a start: waits for processes of a server whose main process was killed, and removes lock files whose process id now belongs to
 * another program or a zombie, which PostgreSQL itself would take for a running server.
 */
async function clearStaleFiles(cluster: string, socketDir: string): Promise<void> {
  const giveUpAt = performance.now() + 15_000;
  while (await someoneStandsIn(cluster)) {
    if (performance.now() > giveUpAt) {
      throw new EmbeddedPostgresError(
        `Processes of an earlier PostgreSQL still use ${cluster} although its main process is gone. End them and start again.`,
      );
    }
    await pause(POLL_MS);
  }
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(text.split('\n', 1)[0]);
  if (pid > 1 && isKnown(pid)) await rm(join(cluster, 'postmaster.pid'));
  for (const name of await readdir(socketDir)) {
    if (name.startsWith('.s.PGSQL.')) await rm(join(socketDir, name), { force: true });
  }
}

/** The check PostgreSQL itself makes before it trusts a postmaster.pid. */
function isKnown(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function someoneStandsIn(cluster: string): Promise<boolean> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map((pid) => standsIn(pid, cluster)));
  return found.includes(true);
}

/** Every process of a server has its data folder as working directory. */
async function standsIn(pid: number, cluster: string): Promise<boolean> {
  const [folder, name, wanted] = await Promise.all([
    readlink(`/proc/${pid}/cwd`).catch(() => null),
    readFile(`/proc/${pid}/comm`, 'utf8').catch(() => ''),
    realpath(cluster).catch(() => cluster),
  ]);
  return folder === wanted && name.trim() === 'postgres';
}
