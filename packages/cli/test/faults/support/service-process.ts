import { type ChildProcess, spawn } from 'node:child_process';
import { builtCommand } from '../../built-command.ts';
import { OWNER_VARIABLE, rememberProcess } from './folders.ts';
import { until } from './until.ts';

export type Environment = { readonly [name: string]: string };

/** How long a process must be silent before its executions are taken over. */
export const LEASE_MS = 4000;

/** For a worker whose lease ends by itself in the test, but not before: a busy machine holds it up for seconds. */
export const SURE_LEASE: Environment = { MILLRACE_LEASE_MS: '8000' };

/** For a worker that must keep its leases, however busy the machine is. */
export const LONG_LEASE: Environment = { MILLRACE_LEASE_MS: '60000' };

/** Short intervals, so that a takeover takes seconds. Everything else is as in production. */
const ENVIRONMENT: Environment = {
  PORT: '0',
  MILLRACE_LEASE_MS: String(LEASE_MS),
  MILLRACE_HEARTBEAT_MS: '500',
  MILLRACE_POLL_MS: '200',
  MILLRACE_ALLOW_HOSTS: '127.0.0.1',
  MILLRACE_RATE_LIMIT: '0',
};

/** The real command as a child process. */
export class ServiceProcess {
  readonly pid: number;
  readonly command: string;
  /** The port it was told to use; null if it chooses one itself. */
  readonly #port: string | null;
  readonly #child: ChildProcess;
  #output = '';
  #end: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;

  private constructor(command: string, port: string | null, child: ChildProcess, pid: number) {
    this.command = command;
    this.#port = port;
    this.pid = pid;
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
      });
    }
    this.#end = new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
  }

  /**
   * Starts `millrace <command>`, on any free port unless the environment names one; it may not be ready yet.
   * @param entry of another version than this one
   */
  static async spawn(command: string, environment: Environment, entry?: string): Promise<ServiceProcess> {
    const child = spawn(process.execPath, [entry ?? (await builtCommand()), ...command.split(' ')], {
      env: {
        PATH: process.env.PATH,
        [OWNER_VARIABLE]: String(process.pid),
        ...ENVIRONMENT,
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    if (child.pid === undefined) throw new Error(`millrace ${command} cannot be started`);
    rememberProcess(child.pid);
    return new ServiceProcess(command, environment.PORT ?? null, child, child.pid);
  }

  /** Base URL of its API. @throws while it hasn't said on which port, which commands without an API never do */
  get url(): string {
    const said = /^(?:Millrace is ready: |\{"address":")http:\/\/[^\s":]+:(\d+)["\n]/m.exec(this.#output);
    const port = this.#port ?? said?.[1];
    if (port === undefined) throw new Error(`millrace ${this.command} has no address yet`);
    return `http://127.0.0.1:${port}`;
  }

  /** All its output so far. */
  get output(): string {
    return this.#output;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Waits until `/readyz` reports ready. @throws if the process ends instead */
  async ready(): Promise<this> {
    await until(`millrace ${this.command} to be ready`, async () => {
      if (!this.isRunning) return 'ended';
      return (await fetch(`${this.url}/readyz`)).ok ? 'ready' : null;
    });
    if (!this.isRunning) throw new Error(`millrace ${this.command} ended:\n${this.#output}`);
    return this;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Sends the signal, SIGKILL by default, and waits for the end. */
  async end(
    signal: NodeJS.Signals = 'SIGKILL',
  ): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    this.#child.kill(signal);
    return await this.#end;
  }

  /** Waits until it ends by itself. */
  async ended(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    return await this.#end;
  }
}
