import { writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '@millrace/testing/free-port';
import { freshFolder } from '../faults/support/folders.ts';
import { PgProxy } from '../faults/support/pg-proxy.ts';
import type { Environment, ServiceProcess } from '../faults/support/service-process.ts';
import type { World } from '../faults/support/world.ts';

const SHIFTED_CLOCK = fileURLToPath(new URL('./shifted-clock.mjs', import.meta.url));
const RESTART_MS = 300;

/** One life of a process. Times are epoch milliseconds. */
export interface Life {
  readonly member: string;
  readonly pid: number;
  readonly startedAtMs: number;
  endedAtMs: number | null;
  /** Why it ended; null while it runs. */
  end: 'killed' | 'terminated' | 'by itself' | null;
  readonly service: ServiceProcess;
}

const FIRST_API = 'api 1';

/** A process of the service that is started again whenever it ends, with a network and a clock of its own. */
export class Member {
  readonly name: string;
  readonly proxy: PgProxy;
  readonly lives: Life[] = [];
  readonly #role: 'api' | 'worker';
  readonly #world: World;
  readonly #environment: Environment;
  readonly #clockFile: string;
  #isOver = false;

  private constructor(
    name: string,
    role: 'api' | 'worker',
    world: World,
    proxy: PgProxy,
    clockFile: string,
    port: number,
  ) {
    this.name = name;
    this.#role = role;
    this.#world = world;
    this.proxy = proxy;
    this.#clockFile = clockFile;
    this.#environment = {
      PORT: String(port),
      MILLRACE_INLINE_WAIT_MS: '500',
      MILLRACE_SHUTDOWN_GRACE_MS: '1000',
      NODE_OPTIONS: `--import=${SHIFTED_CLOCK}`,
      FAULT_TEST_CLOCK: clockFile,
      // The first one completes by itself what it can; others queue everything.
      MILLRACE_RUN_AHEAD_NODES: name === FIRST_API ? '100' : '0',
    };
  }

  static async start(name: string, role: 'api' | 'worker', world: World): Promise<Member> {
    const proxy = await PgProxy.start(world.cluster.socketPath);
    const member = new Member(name, role, world, proxy, freshFolder('clock'), await freePort());
    await member.stepClock(0);
    await member.#launch();
    return member;
  }

  get service(): ServiceProcess {
    return this.#life.service;
  }

  get #life(): Life {
    const life = this.lives.at(-1);
    if (life === undefined) throw new Error(`${this.name} was never started`);
    return life;
  }

  /** Sends the signal and starts the next process once this one has ended. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<{ readonly code: number | null }> {
    const life = this.#life;
    life.end = signal === 'SIGKILL' ? 'killed' : 'terminated';
    return await life.service.end(signal);
  }

  /** Moves its wall clock, also of the processes that follow. */
  async stepClock(offsetMs: number): Promise<void> {
    await writeFile(this.#clockFile, String(offsetMs));
  }

  /** Ends it for good. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.proxy.heal();
    this.service.signal('SIGCONT');
    await this.service.end();
    await this.proxy.stop();
  }

  async #launch(): Promise<void> {
    const service = await this.#world.spawn(this.#role, {
      ...this.#environment,
      DATABASE_URL: this.proxy.through(this.#world.cluster.url),
    });
    const { pid } = service;
    const life: Life = {
      member: this.name,
      pid,
      startedAtMs: Date.now(),
      endedAtMs: null,
      end: null,
      service,
    };
    this.lives.push(life);
    void service.ended().then(() => this.#succeed(life));
  }

  /** What an operator's supervisor does. */
  async #succeed(life: Life): Promise<void> {
    life.endedAtMs = Date.now();
    life.end ??= 'by itself';
    if (this.#isOver) return;
    await pause(RESTART_MS);
    if (!this.#isOver) await this.#launch();
  }
}

/** All processes of the service. */
export class Fleet {
  readonly apis: readonly Member[];
  readonly workers: readonly Member[];

  private constructor(apis: readonly Member[], workers: readonly Member[]) {
    this.apis = apis;
    this.workers = workers;
  }

  static async start(world: World, apis: number, workers: number): Promise<Fleet> {
    const start = (role: 'api' | 'worker', count: number) =>
      Promise.all(Array.from({ length: count }, (_, n) => Member.start(`${role} ${n + 1}`, role, world)));
    const fleet = new Fleet(await start('api', apis), await start('worker', workers));
    await Promise.all(fleet.apis.map((api) => api.service.ready()));
    return fleet;
  }

  get members(): readonly Member[] {
    return [...this.apis, ...this.workers];
  }

  /** @throws if there is none of that name */
  member(name: string): Member {
    const member = this.members.find((each) => each.name === name);
    if (member === undefined) throw new Error(`There is no process ${name}`);
    return member;
  }

  /** Address of one of the processes that accept starts; another one for each number. */
  apiUrl(n: number): string {
    const api = this.apis[n % this.apis.length];
    if (api === undefined) throw new Error('No process accepts starts');
    return api.service.url;
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.stop()));
  }
}
