import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { NODE_OPTIONS } from '../packages/cli/bin/node-options.js';
import { killAtExit } from './end-with-us.ts';

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;
const POLL_MS = 5;

/** A server in a separate process. */
export interface ServerProcess {
  readonly baseUrl: string;
  readonly pid: number;
  /** Milliseconds from spawning the process until it was ready. */
  readonly readyAfterMs: number;
  /** Stops the process and waits until it has ended. */
  stop(): Promise<void>;
}

/** Starts one of `bench/servers/`, which announces its address once it listens. */
export async function startBareServer(
  name: 'bare' | 'coalesced' | 'slow',
  args: readonly string[] = [],
): Promise<ServerProcess> {
  const began = performance.now();
  const child = fork(fileURLToPath(new URL(`./servers/${name}.ts`, import.meta.url)), [...args]);
  killAtExit(pidOf(child), 'SIGKILL', () => isRunning(child));
  const [message] = (await Promise.race([once(child, 'message'), failedStart(child, name)])) as [
    { url: string },
  ];
  return {
    baseUrl: message.url,
    pid: pidOf(child),
    readyAfterMs: performance.now() - began,
    stop: () => stop(child),
  };
}

export interface MillraceOptions {
  readonly command: 'start' | 'api' | 'worker';
  /** Null: the embedded PostgreSQL on `folder`. */
  readonly databaseUrl: string | null;
  /** Data folder, including its log. */
  readonly folder: string;
  /** Folder of the built artefact; without it, the sources are run. */
  readonly artefact?: string;
  /** Settings besides the row's usual ones. */
  readonly environment?: Readonly<Record<string, string>>;
  /** An address in the private network that nodes may call. */
  readonly allowHost?: string;
}

/** Starts the service as its command line does, with its defaults but without rate limits, and waits for /readyz. */
export async function startMillrace(options: MillraceOptions): Promise<ServerProcess> {
  const port = await findFreePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const logFile = join(options.folder, `${options.command}.log`);
  const log = openSync(logFile, 'w');
  const began = performance.now();
  const entry = options.artefact === undefined ? cliFile : join(options.artefact, 'bin', 'millrace.js');
  const child = spawn(process.execPath, [...NODE_OPTIONS, entry, options.command], {
    stdio: ['ignore', log, log],
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: String(port),
      MILLRACE_DATA_DIR: join(options.folder, 'data'),
      MILLRACE_RATE_LIMIT: '0',
      MILLRACE_WEBHOOK_RATE_LIMIT: '0',
      MILLRACE_ORGANISATION_QUEUE_LIMIT: '0',
      MILLRACE_QUEUE_LIMIT: '0',
      MILLRACE_HOST_CALLS: '0',
      MILLRACE_ORGANISATION_HOST_CALLS: '0',
      MILLRACE_ORGANISATION_EXECUTIONS_STORAGE: '0',
      MILLRACE_SHED_LOOP_DELAY_MS: '0',
      MILLRACE_SHED_POOL_WAIT_MS: '0',
      ...(options.databaseUrl === null ? {} : { DATABASE_URL: options.databaseUrl }),
      ...options.environment,
      ...(options.allowHost === undefined ? {} : { MILLRACE_ALLOW_HOSTS: options.allowHost }),
    },
  });
  closeSync(log);
  // With an embedded PostgreSQL it has to stop that too; a separate database is gone by then.
  killAtExit(pidOf(child), options.databaseUrl === null ? 'SIGTERM' : 'SIGKILL', () => isRunning(child));
  if (options.command !== 'worker') {
    await Promise.race([untilReady(baseUrl), failedStart(child, options.command, logFile)]);
  }
  return { baseUrl, pid: pidOf(child), readyAfterMs: performance.now() - began, stop: () => stop(child) };
}

const cliFile = fileURLToPath(new URL('../packages/cli/src/cli.ts', import.meta.url));

async function untilReady(baseUrl: string): Promise<void> {
  const giveUpAt = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < giveUpAt) {
    const answer = await fetch(`${baseUrl}/readyz`).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.status === 200) return;
    await pause(POLL_MS);
  }
  throw new Error(`${baseUrl}/readyz did not answer 200 within ${START_TIMEOUT_MS / 1000} seconds`);
}

async function failedStart(child: ChildProcess, name: string, logFile?: string): Promise<never> {
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  const said = logFile === undefined ? '' : await readFile(logFile, 'utf8');
  throw new Error(
    `${name} ended before it was ready (${signal ?? `exit code ${code}`}):\n${said.slice(-4000)}`,
  );
}

async function stop(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await gone;
  clearTimeout(timer);
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return address.port;
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('the process could not be started');
  return child.pid;
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}
