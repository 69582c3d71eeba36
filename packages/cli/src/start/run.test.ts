import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { clusterFolder } from '@millrace/database/embedded/cluster';
import { findPostmaster, stopPostmaster } from '@millrace/database/embedded/postmaster';
import { copyDataDir } from '@millrace/testing/data-dir';
import { DATA_ROOT } from '@millrace/testing/data-root';
import { freePort } from '@millrace/testing/free-port';
import { kill } from '@millrace/testing/processes';
import { afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { builtCommand } from '../../test/built-command.ts';
import { readRunningService } from './running-service.ts';

/** As sources, whose files can be told apart. */
const SOURCE = fileURLToPath(new URL('../cli.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const run = promisify(execFile);

/** For a machine that has much else to do: several processes start. */
const PATIENT = { timeout: 300_000 };

let entry: string;
let folder: string;
let dataDir: string;
const children: ChildProcess[] = [];

// Everything is built beforehand: a test is about what starts.
beforeAll(async () => {
  entry = await builtCommand();
});
beforeEach(async () => {
  folder = await mkdtemp(join(DATA_ROOT, 'mr-run-'));
  await chmod(folder, 0o755);
  dataDir = join(folder, 'data');
});
afterEach(async () => {
  for (const child of children.splice(0)) await kill(child);
  for (const name of await readdir(folder)) {
    const left = await findPostmaster(clusterFolder(join(folder, name))).catch(() => null);
    if (left !== null) await stopPostmaster(left);
  }
  await rm(folder, { recursive: true, force: true });
});

/** A data folder whose database is initialised: that takes longer than a start. */
async function prepareDataDir(to = dataDir): Promise<void> {
  await copyDataDir(inject('preparedDataDir'), to);
}

interface Running {
  readonly child: ChildProcess;
  /** Everything printed so far. */
  readonly output: () => string;
  /** The part on standard output. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly exit: Promise<number | null>;
}

/** Starts `millrace start` as a child process, with an embedded PostgreSQL and any free port. */
function millraceStart(env: NodeJS.ProcessEnv = {}, options: readonly string[] = []): Running {
  return launch([process.execPath, entry, 'start', ...options], env);
}

/** Starts a command; `child` is its outermost process. */
function launch([program = '', ...words]: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
  const child = spawn(program, words, {
    cwd: ROOT,
    env: { PATH: process.env.PATH, MILLRACE_DATA_DIR: dataDir, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let [output, stdout, stderr] = ['', '', ''];
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
  });
  child.stdout.on('data', (chunk) => {
    stdout += String(chunk);
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
    });
  }
  const exit = once(child, 'close').then(([code]) => code as number | null);
  return { child, output: () => output, stdout: () => stdout, stderr: () => stderr, exit };
}

async function ready(running: Running): Promise<void> {
  await expect.poll(running.output, PATIENT).toContain('Press Ctrl-C to stop.');
}

/** Starts it while one file of the code can't be read, as if too many files were open; it says so when it is asked for. */
function startUnreadable(file: string, env: NodeJS.ProcessEnv = {}): Running {
  const hook = `import { registerHooks } from 'node:module';
    registerHooks({
      load(url, context, next) {
        if (!url.endsWith(${JSON.stringify(file)})) return next(url, context);
        console.error('asked for ' + url);
        throw new Error('EMFILE: too many open files');
      },
    });`;
  const options = `--import=data:text/javascript,${encodeURIComponent(hook)}`;
  return launch([process.execPath, SOURCE, 'start'], { NODE_OPTIONS: options, ...env });
}

const HAS_CURL = await run('curl', ['--version']).then(
  () => true,
  () => false,
);

// Each creates a cluster and starts one or two processes, which is slow on a busy machine.
describe('millrace start', { timeout: 900_000 }, () => {
  test('reports progress, stops in order on SIGINT and leaves nothing running', async () => {
    const running = millraceStart({ MILLRACE_LOG_LEVEL: 'trace' });
    await ready(running);
    expect(running.output()).toContain('Initialising the database (once)');
    expect(await readRunningService(dataDir)).toMatchObject({
      pid: running.child.pid,
      address: expect.stringMatching(/^http:\/\/localhost:\d+$/),
    });
    running.child.kill('SIGINT');
    expect(await running.exit).toBe(0);
    expect(running.output()).toContain('Millrace stopped.');
    expect(running.stdout()).toMatch(/mr_\S+/);
    const [, token = ''] = running.stdout().match(/setup#token=([\w-]{43})$/m) ?? [];
    expect(token).not.toBe('');
    expect(running.stderr()).toContain('service started');
    expect(running.stderr()).not.toMatch(/mr_|token=/);
    expect(running.stderr()).not.toContain(token);
    expect(await readRunningService(dataDir)).toBeNull();
    expect(await findPostmaster(clusterFolder(dataDir))).toBeNull();
  });

  test.runIf(HAS_CURL)('the commands it prints can be pasted', async () => {
    await prepareDataDir();
    const running = millraceStart();
    await ready(running);
    const commands = running.output().match(/^ {2}(ID=\$\(curl|curl) .*$/gm) ?? [];
    expect(commands).toHaveLength(2);
    const { stdout } = await run('sh', ['-c', commands.join('\n')]);
    expect(stdout).toMatch(/^execution \d+\n\{.*"status":"completed".*"greeting":"Hello, Ada!"/);
  });

  test('--json: one JSON value on standard output when it is ready, everything else on standard error', async () => {
    await prepareDataDir();
    const running = millraceStart({}, ['--json']);
    await expect.poll(running.stdout, PATIENT).toMatch(/\}\n$/);
    const told = JSON.parse(running.stdout()) as { address: string; first_api_key: string };
    expect(told).toEqual({
      address: expect.stringMatching(/^http:\/\/localhost:\d+$/),
      public_url: told.address,
      pid: running.child.pid,
      first_api_key: expect.stringMatching(/^mr_/),
      sample_workflow_id: 1,
      setup_url: expect.stringMatching(/^http:\/\/localhost:\d+\/setup#token=[\w-]{43}$/),
    });
    const headers = { authorization: `Bearer ${told.first_api_key}` };
    expect((await fetch(`${told.address}/api/v1/workflows/1`, { headers })).status).toBe(200);
    const before = running.stdout();
    running.child.kill('SIGTERM');
    expect(await running.exit).toBe(0);
    expect(running.stdout()).toBe(before);
    expect(running.output().replace(before, '')).not.toContain(told.first_api_key);
  });

  test("killed and started again: adopts PostgreSQL, and doesn't show the key again", async () => {
    await prepareDataDir();
    const first = millraceStart();
    await ready(first);
    const postmaster = await findPostmaster(clusterFolder(dataDir));
    await kill(first.child);
    expect(await readRunningService(dataDir)).toBeNull();
    const second = millraceStart();
    await ready(second);
    expect(second.output()).toContain(`Found PostgreSQL still running (process ${postmaster?.pid})`);
    expect(second.output()).not.toContain('mr_');
    second.child.kill('SIGTERM');
    expect(await second.exit).toBe(0);
    expect(await findPostmaster(clusterFolder(dataDir))).toBeNull();
  });

  test('with more idle connections than open files are allowed, it keeps responding', async () => {
    await prepareDataDir();
    const limited = `ulimit -n 1024 && exec "$0" "$1" start`;
    const running = launch(['sh', '-c', limited, process.execPath, entry]);
    await ready(running);
    const { port } = new URL((await readRunningService(dataDir))?.address ?? '');
    const idle = Array.from({ length: 1_100 }, () => connect(Number(port), '127.0.0.1'));
    for (const socket of idle) socket.on('error', () => {});
    const closed = () => idle.filter(({ destroyed }) => destroyed).length;
    await expect.poll(closed, { timeout: 60_000 }).toBeGreaterThanOrEqual(1_100 - 512);
    expect(running.child.exitCode).toBeNull();
    // From another address of this machine than the idle connections.
    const status = new Promise((resolve) => {
      get({ port, host: '127.0.0.1', localAddress: '127.0.0.2', path: '/readyz' }, (response) =>
        resolve(response.statusCode),
      );
    });
    expect(await status).toBe(200);
    for (const socket of idle) socket.destroy();
    running.child.kill('SIGTERM');
    expect(await running.exit).toBe(0);
    expect(running.output()).not.toContain('EMFILE');
  });

  test('a signal to npm or npx alone stops everything in order', async () => {
    const npm = await run('sh', ['-c', 'command -v npm && command -v npx']);
    const [npmPath = '', npxPath = ''] = npm.stdout.trim().split('\n');
    const stopBy = async (
      words: readonly string[],
      signals: readonly NodeJS.Signals[],
      env: NodeJS.ProcessEnv,
    ): Promise<void> => {
      const own = join(folder, words[0] === npmPath ? 'npm' : 'npx');
      await prepareDataDir(own);
      for (const signal of signals) {
        const running = launch(words, { MILLRACE_DATA_DIR: own, ...env });
        await ready(running);
        expect((await readRunningService(own))?.pid).not.toBe(running.child.pid);
        running.child.kill(signal);
        await running.exit;
        expect([words, signal, running.output()]).toEqual([
          words,
          signal,
          expect.stringContaining('Millrace stopped.'),
        ]);
        expect(await readRunningService(own)).toBeNull();
        expect(await findPostmaster(clusterFolder(own))).toBeNull();
      }
    };
    await Promise.all([
      // npm works without HOME, and so must what it starts.
      stopBy([npmPath, 'start'], ['SIGTERM', 'SIGHUP', 'SIGINT'], {}),
      stopBy([npxPath, 'millrace', 'start'], ['SIGHUP', 'SIGINT'], { HOME: folder }),
    ]);
  });

  test.runIf(process.getuid?.() === 0)('a user id unknown to the machine is reported', async () => {
    await mkdir(dataDir, { mode: 0o777 });
    const running = launch([
      'setpriv',
      '--reuid=54321',
      '--regid=54321',
      '--clear-groups',
      process.execPath,
      entry,
      'start',
    ]);
    expect(await running.exit).toBe(1);
    expect(running.stderr()).toContain('The user id 54321 has no entry in /etc/passwd');
  });

  test('a data folder that is a file is reported', async () => {
    await writeFile(dataDir, '');
    const running = millraceStart();
    expect(await running.exit).toBe(1);
    expect(running.stderr()).toContain('there is a file of this name, not a folder');
  });

  test('warns about a port open to strangers with proxies that are only counted', async () => {
    await prepareDataDir();
    const running = millraceStart({ HOST: '0.0.0.0', MILLRACE_TRUST_PROXY: '1' });
    await ready(running);
    expect(running.stderr()).toContain('anyone who reaches this port directly can claim any address');
    running.child.kill('SIGTERM');
    expect(await running.exit).toBe(0);
  });

  test('a signal during startup takes effect as soon as it can stop in order', async () => {
    const running = millraceStart();
    await expect.poll(running.output, PATIENT).toContain('Starting PostgreSQL');
    running.child.kill('SIGINT');
    expect(await running.exit).toBe(0);
    expect(await findPostmaster(clusterFolder(dataDir))).toBeNull();
  });

  test('ends if a part of its code cannot be loaded, and stops the PostgreSQL that was starting', async () => {
    await prepareDataDir();
    const running = startUnreadable('/start/start-on.ts');
    expect(await running.exit).toBe(1);
    expect(running.output()).toContain('Starting PostgreSQL');
    expect(running.stderr()).toContain('EMFILE: too many open files');
    expect(await findPostmaster(clusterFolder(dataDir))).toBeNull();
    expect(await readRunningService(dataDir)).toBeNull();
  });

  test('a signal ends it while its code cannot be loaded and the database does not respond', async () => {
    const running = startUnreadable('/start/start-on.ts', {
      DATABASE_URL: `postgresql://nobody@127.0.0.1:${await freePort()}/nothing`,
    });
    await expect.poll(running.output, PATIENT).toContain('Waiting for the database of DATABASE_URL');
    await expect.poll(running.output, PATIENT).toContain('asked for file:');
    expect(running.child.exitCode).toBeNull();
    running.child.kill('SIGTERM');
    expect(await running.exit).toBe(0);
    expect(running.output()).toContain('Millrace stopped.');
  });

  test('restarts PostgreSQL when it is killed, and the service continues', async () => {
    await prepareDataDir();
    const running = millraceStart();
    await ready(running);
    const address = (await readRunningService(dataDir))?.address;
    const postmaster = await findPostmaster(clusterFolder(dataDir));
    process.kill(postmaster?.pid ?? 0, 'SIGKILL');
    await expect.poll(running.output, PATIENT).toContain('PostgreSQL runs again');
    await expect.poll(async () => (await fetch(`${address}/readyz`)).status).toBe(200);
  });

  test('reports every wrong setting, and starts nothing', async () => {
    const running = millraceStart({ PORT: 'eighty', MILLRACE_RATE_LIMITS: '5' });
    expect(await running.exit).toBe(2);
    expect(running.output()).toContain('PORT: "eighty" is not');
    expect(running.output()).toContain('Did you mean MILLRACE_RATE_LIMIT?');
    expect(await findPostmaster(clusterFolder(dataDir))).toBeNull();
  });
});
