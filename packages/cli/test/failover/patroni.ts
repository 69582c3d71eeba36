import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs';
import { access, chmod, chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Account } from '@millrace/database/embedded/account';
import { DEBIAN_BINARIES, ordinaryUser } from '@millrace/testing/debian';
import { freePort } from '@millrace/testing/free-port';
import { parse, stringify } from 'yaml';
import { OWNER_VARIABLE, rememberProcess } from '../faults/support/folders.ts';
import { until } from '../faults/support/until.ts';

const PATRONI = '/usr/bin/patroni';
const ETCD = '/usr/bin/etcd';
/** What operators are given: the test changes addresses, folders and passwords only. */
const EXAMPLE = fileURLToPath(new URL('../../../../deploy/patroni/patroni.yml', import.meta.url));
const PASSWORD = 'secret';

/** Debian's packages that are missing here; none if the test can run. */
export async function missingPackages(): Promise<string[]> {
  const isThere = (path: string) =>
    access(path).then(
      () => true,
      () => false,
    );
  return [
    ...(DEBIAN_BINARIES === null ? ['postgresql', 'pgbouncer'] : []),
    ...((await isThere(PATRONI)) ? [] : ['patroni']),
    ...((await isThere(ETCD)) ? [] : ['etcd-server']),
  ];
}

/** Processes whose working directory is the folder or below it: that of PostgreSQL is its data folder. */
function processesIn(folder: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      return `${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${folder}/`);
    } catch {
      return false;
    }
  });
}

/** SIGKILL for each of them. */
export function endProcessesIn(folder: string): void {
  for (const pid of processesIn(folder)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** A process with a folder and a log of its own. */
class Program {
  readonly folder: string;
  readonly #command: readonly [string, ...string[]];
  readonly #account: Account | null;
  #child: ChildProcess | null = null;

  constructor(folder: string, command: readonly [string, ...string[]], account: Account | null) {
    this.folder = folder;
    this.#command = command;
    this.#account = account;
  }

  /** Where it writes what it says. */
  get log(): string {
    return join(this.folder, 'log');
  }

  start(): void {
    const log = openSync(this.log, 'a');
    const [program, ...args] = this.#command;
    const child = spawn(program, args, {
      cwd: this.folder,
      env: { PATH: process.env.PATH, HOME: this.folder, [OWNER_VARIABLE]: String(process.pid) },
      stdio: ['ignore', log, log],
      ...(this.#account === null ? {} : { uid: this.#account.uid, gid: this.#account.gid }),
    });
    if (child.pid === undefined) throw new Error(`${program} cannot be started`);
    rememberProcess(child.pid);
    closeSync(log);
    this.#child = child;
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }
}

/** One database server: PostgreSQL and the Patroni that controls it. */
export class Server {
  readonly name: string;
  readonly port: number;
  readonly #restPort: number;
  readonly #patroni: Program;
  readonly #dataDir: string;

  constructor(name: string, port: number, restPort: number, patroni: Program, dataDir: string) {
    this.name = name;
    this.port = port;
    this.#restPort = restPort;
    this.#patroni = patroni;
    this.#dataDir = dataDir;
  }

  get log(): string {
    return this.#patroni.log;
  }

  superuserUrl(database: string): string {
    return `postgresql://postgres:${PASSWORD}@127.0.0.1:${this.port}/${database}`;
  }

  start(): void {
    this.#patroni.start();
  }

  /** SIGKILL for PostgreSQL, as in a crash; Patroni goes on. */
  killPostgres(): void {
    endProcessesIn(this.#dataDir);
  }

  /** SIGKILL for everything, as when the machine fails. */
  async killAll(): Promise<void> {
    await this.#patroni.kill();
    await until(`the end of PostgreSQL of ${this.name}`, async () => {
      this.killPostgres();
      return processesIn(this.#dataDir).length === 0;
    });
  }

  /** The members of the cluster as Patroni sees them. */
  async members(): Promise<Member[]> {
    const response = await fetch(`http://127.0.0.1:${this.#restPort}/cluster`);
    return ((await response.json()) as { readonly members: Member[] }).members;
  }
}

/** A server as Patroni describes it. */
export interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
}

/** Starts etcd and servers that aren't running yet, in folders of their own below `folder`. */
export async function preparePatroni(
  folder: string,
  count: number,
): Promise<{ readonly etcd: Program; readonly servers: readonly Server[] }> {
  const { account } = await ordinaryUser();
  const own = async (name: string): Promise<string> => {
    const path = join(folder, name);
    await mkdir(path, { recursive: true });
    if (account !== null) await chown(path, account.uid, account.gid);
    await chmod(path, 0o700);
    return path;
  };
  const [client, peer] = [await freePort(), await freePort()].map((port) => `http://127.0.0.1:${port}`);
  const etcdFolder = await own('etcd');
  const etcd = new Program(
    etcdFolder,
    [
      ETCD,
      ...['--name', 'one', '--data-dir', join(etcdFolder, 'data')],
      ...['--listen-client-urls', client ?? '', '--advertise-client-urls', client ?? ''],
      ...['--listen-peer-urls', peer ?? '', '--initial-advertise-peer-urls', peer ?? ''],
      ...['--initial-cluster', `one=${peer}`],
    ],
    account,
  );
  etcd.start();
  await until('etcd', async () => (await fetch(`${client}/health`)).ok);
  const servers: Server[] = [];
  for (let n = 1; n <= count; n += 1) {
    const name = `db${n}`;
    const serverFolder = await own(name);
    const [port, restPort] = [await freePort(), await freePort()];
    const dataDir = join(serverFolder, 'data');
    const config = join(serverFolder, 'patroni.yml');
    const places = { name, port, restPort, folder: serverFolder, dataDir, etcd: new URL(client ?? '').host };
    await writeFile(config, stringify(configure(parse(await readFile(EXAMPLE, 'utf8')), places)));
    servers.push(
      new Server(name, port, restPort, new Program(serverFolder, [PATRONI, config], account), dataDir),
    );
  }
  return { etcd, servers };
}

interface Places {
  readonly name: string;
  readonly port: number;
  readonly restPort: number;
  readonly folder: string;
  readonly dataDir: string;
  readonly etcd: string;
}

interface Example {
  readonly postgresql: {
    readonly authentication: { readonly [role: string]: { readonly username: string } };
  };
}

/** The example with the addresses of this machine. */
function configure(example: Example, { name, port, restPort, folder, dataDir, etcd }: Places): object {
  const address = `127.0.0.1:${port}`;
  const rest = `127.0.0.1:${restPort}`;
  const roles = Object.entries(example.postgresql.authentication);
  return {
    ...example,
    name,
    restapi: { listen: rest, connect_address: rest },
    etcd3: { hosts: etcd },
    postgresql: {
      ...example.postgresql,
      listen: address,
      connect_address: address,
      bin_dir: DEBIAN_BINARIES,
      data_dir: dataDir,
      pgpass: join(folder, 'pgpass'),
      authentication: Object.fromEntries(
        roles.map(([role, { username }]) => [role, { username, password: PASSWORD }]),
      ),
      parameters: { unix_socket_directories: folder },
      pg_hba: [
        'local all all trust',
        'host replication replicator 127.0.0.1/32 scram-sha-256',
        'host all all 127.0.0.1/32 scram-sha-256',
      ],
    },
  };
}
