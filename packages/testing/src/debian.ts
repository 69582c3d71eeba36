import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, chown, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Account, findAccount } from '@millrace/database/embedded/account';
import { createDatabase } from '@millrace/database/pool';
import { DATA_ROOT } from './data-root.ts';
import { freePort } from './free-port.ts';

const run = promisify(execFile);
/** Of the superuser and of the role `millrace`. */
const PASSWORD = 'secret';
const PGBOUNCER = '/usr/sbin/pgbouncer';

/**
 * The binaries of Debian's newest PostgreSQL, or of the one that the variable `TEST_POSTGRESQL` names the folder of; null without them or without
 * pgbouncer.
 */
export const DEBIAN_BINARIES: string | null = await findBinaries();

async function findBinaries(): Promise<string | null> {
  const { TEST_POSTGRESQL: named } = process.env;
  if (named !== undefined) return named;
  const root = '/usr/lib/postgresql';
  const versions = (await readdir(root).catch(() => [])).filter((name) => Number(name) >= 15);
  const [newest] = versions.sort((a, b) => Number(b) - Number(a));
  if (newest === undefined) return null;
  const folder = join(root, newest, 'bin');
  const isThere = await Promise.all([access(join(folder, 'postgres')), access(PGBOUNCER)]).then(
    () => true,
    () => false,
  );
  return isThere ? folder : null;
}

function program(name: string): string {
  return join(DEBIAN_BINARIES ?? '', name);
}

/** Both refuse to run as root. */
export async function ordinaryUser(): Promise<{
  account: Account | null;
  ids: { uid?: number; gid?: number };
}> {
  const account = await findAccount();
  return { account, ids: account === null ? {} : { uid: account.uid, gid: account.gid } };
}

async function makeFolder(account: Account | null): Promise<string> {
  const folder = await mkdtemp(join(DATA_ROOT, 'mr-debian-'));
  if (account !== null) await chown(folder, account.uid, account.gid);
  await chmod(folder, 0o755);
  return folder;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

/** A Debian PostgreSQL on a port of 127.0.0.1. */
export interface DebianServer {
  readonly port: number;
  readonly superuserUrl: string;
  /** The folder of its socket. */
  readonly folder: string;
  /** URL of one of its databases, as the role `millrace`. */
  urlOf(database: string): string;
  /** Sends one statement as superuser. */
  execute(statement: string): Promise<void>;
  /** Ends it like a power failure. */
  kill(): Promise<void>;
  stop(): Promise<void>;
  /** Ends it without waiting. */
  readonly abandon: () => void;
}

export interface DebianServerOptions {
  /** Settings for the command line, besides those of every test server. */
  readonly settings?: { readonly [name: string]: string };
  /** How roles sign in over TCP. */
  readonly auth?: 'trust' | 'scram-sha-256';
  /** Letters without a locale are those of ASCII. */
  readonly locale?: 'C' | 'C.UTF-8';
}

/** Starts a new server with the role and the database described in the documentation. */
export async function startDebianServer({
  settings = {},
  auth = 'trust',
  locale = 'C',
}: DebianServerOptions = {}): Promise<DebianServer> {
  const { account, ids } = await ordinaryUser();
  const folder = await makeFolder(account);
  const data = join(folder, 'data');
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, `${PASSWORD}\n`);
  const options = [
    '--pgdata',
    data,
    '--username=postgres',
    `--auth=${auth}`,
    `--pwfile=${passwordFile}`,
    '--encoding=UTF8',
    `--locale=${locale}`,
  ];
  await run(program('initdb'), options, { cwd: folder, ...ids });
  const server = await launch(folder, data, ids, settings);
  await server.execute(`CREATE ROLE millrace LOGIN PASSWORD '${PASSWORD}'`);
  await server.execute('CREATE DATABASE millrace OWNER millrace');
  return server;
}

/** Starts a standby of the other server. */
export async function startStandby(primary: DebianServer): Promise<DebianServer> {
  const { account, ids } = await ordinaryUser();
  const folder = await makeFolder(account);
  const data = join(folder, 'data');
  const options = [
    '--pgdata',
    data,
    '--dbname',
    primary.superuserUrl,
    '--write-recovery-conf',
    '--checkpoint=fast',
  ];
  await run(program('pg_basebackup'), options, { cwd: folder, ...ids });
  return launch(folder, data, ids);
}

async function launch(
  folder: string,
  data: string,
  ids: { uid?: number; gid?: number },
  more: { readonly [name: string]: string } = {},
): Promise<DebianServer> {
  const port = await freePort();
  const settings = Object.entries({
    listen_addresses: '127.0.0.1',
    fsync: 'off',
    autovacuum: 'off',
    unix_socket_directories: folder,
    ...more,
  });
  const child = spawn(
    program('postgres'),
    ['-D', data, '-p', String(port), ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { cwd: folder, stdio: 'ignore', ...ids },
  );
  const superuserUrl = `postgresql://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`;
  async function execute(statement: string): Promise<void> {
    const db = createDatabase(superuserUrl, { lanes: 1, statementTimeoutMs: 60_000 });
    try {
      await db.query(statement);
    } finally {
      await db.close();
    }
  }
  await untilReady(child, () => execute('SELECT 1'));
  return {
    port,
    superuserUrl,
    folder,
    urlOf: (database) => `postgresql://millrace:${PASSWORD}@127.0.0.1:${port}/${database}`,
    execute,
    kill: () => end(child, 'SIGQUIT'),
    abandon: () => child.kill('SIGQUIT'),
    async stop() {
      await end(child, 'SIGINT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Asks again until there is an answer; a server that ended answers no more. */
async function untilReady(child: ChildProcess, ask: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (child.exitCode !== null || child.signalCode !== null) throw error;
      await setTimeout(100);
    }
  }
}

/** A pgbouncer with its default configuration, except for its address and pool mode. */
export interface DebianPooler {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a pooler in front of the server's database `millrace`. */
export async function startPooler(
  server: DebianServer,
  mode: 'session' | 'transaction' | 'statement',
): Promise<DebianPooler> {
  const { account, ids } = await ordinaryUser();
  const folder = await makeFolder(account);
  const port = await freePort();
  await writeFile(join(folder, 'users.txt'), '"millrace" "secret"\n');
  const ini = `[databases]
* = host=127.0.0.1 port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
auth_type = trust
auth_file = ${join(folder, 'users.txt')}
unix_socket_dir =
pool_mode = ${mode}
`;
  await writeFile(join(folder, 'pgbouncer.ini'), ini);
  const child = spawn(PGBOUNCER, [join(folder, 'pgbouncer.ini')], { cwd: folder, stdio: 'ignore', ...ids });
  return {
    url: `postgresql://millrace:${PASSWORD}@127.0.0.1:${port}/millrace`,
    async stop() {
      await end(child, 'SIGTERM');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
