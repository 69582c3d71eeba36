import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../faults/support/until.ts';
import type { World } from '../faults/support/world.ts';
import type { Disk } from './disk.ts';
import type { Fleet } from './fleet.ts';
import type { Outside } from './outside.ts';
import { type Fault, resourceOf } from './plan.ts';

/** A fault that was injected. Times are epoch milliseconds. */
export interface Injected {
  readonly fault: Fault;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** Process it hit; null for faults of PostgreSQL and the receiver. */
  readonly pid: number | null;
  /** False if nothing happened: the statement whose reply was to be lost was not sent. */
  readonly hasHit: boolean;
}

/** What faults are injected into. */
export interface Targets {
  readonly world: World;
  readonly fleet: Fleet;
  readonly outside: Outside;
  readonly disk: Disk | null;
}

/** How many faults happen at the same time. */
const AT_ONCE = 2;
const STATEMENT_WAIT_MS = 3_000;
const RECOVERY_MS = 120_000;

/** Injects the faults of a plan in their order, two at a time. */
export class Injector {
  readonly injected: Injected[] = [];
  readonly #targets: Targets;
  /** Ends of the faults under way, by what they keep to themselves. */
  readonly #underWay = new Map<string, Promise<unknown>>();
  #begun = 0;

  constructor(targets: Targets) {
    this.#targets = targets;
  }

  /** Faults that have begun so far. */
  get begun(): number {
    return this.#begun;
  }

  /** @param mayBegin waits until the n-th fault, counted from 0, is due */
  async run(plan: readonly Fault[], mayBegin: (n: number) => Promise<void>): Promise<void> {
    const left = [...plan.entries()];
    const inject = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const [n, fault] = next;
        await mayBegin(n);
        this.#begun += 1;
        await this.#alone(fault);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, inject));
  }

  async #alone(fault: Fault): Promise<void> {
    const resource = resourceOf(fault);
    const before = this.#underWay.get(resource);
    const mine = (async () => {
      await before;
      await this.#record(fault);
    })();
    this.#underWay.set(resource, mine);
    await mine;
  }

  async #record(fault: Fault): Promise<void> {
    const pid = 'member' in fault ? this.#targets.fleet.member(fault.member).service.pid : null;
    const startedAtMs = Date.now();
    const hasHit = await this.#inject(fault);
    this.injected.push({ fault, startedAtMs, endedAtMs: Date.now(), pid, hasHit });
  }

  /** @returns whether it hit something */
  async #inject(fault: Fault): Promise<boolean> {
    if ('member' in fault) return await this.#injectMember(fault);
    const { world, outside, disk } = this.#targets;
    switch (fault.kind) {
      case 'kill postgres':
        await world.cluster.kill();
        await pause(fault.ms);
        await world.cluster.restart();
        return true;
      case 'stop postgres':
        await world.cluster.freeze();
        await pause(fault.ms);
        await world.cluster.thaw();
        return true;
      case 'terminate sessions':
        return (await world.cluster.terminateSessions()) > 0;
      case 'fill disk':
        await disk?.fill();
        await pause(fault.ms);
        await disk?.free();
        await until('PostgreSQL after a full disk', () => world.db.query('SELECT 1'), RECOVERY_MS);
        return disk !== null;
      case 'receiver':
        outside.begin(fault.trouble);
        await pause(fault.ms);
        outside.recover();
        return true;
    }
  }

  async #injectMember(fault: Extract<Fault, { readonly member: string }>): Promise<boolean> {
    const member = this.#targets.fleet.member(fault.member);
    const { proxy, service } = member;
    switch (fault.kind) {
      case 'kill':
      case 'terminate': {
        const lives = member.lives.length;
        await member.end(fault.kind === 'kill' ? 'SIGKILL' : 'SIGTERM');
        await until(`the next process of ${member.name}`, () => member.lives.length > lives);
        return true;
      }
      case 'stop':
        service.signal('SIGSTOP');
        await pause(fault.ms);
        service.signal('SIGCONT');
        return true;
      case 'cut':
        proxy.cutEverything();
        return true;
      case 'swallow':
      case 'delay':
        proxy.delayEverything(fault.kind === 'delay' ? fault.delayMs : Number.POSITIVE_INFINITY);
        await pause(fault.ms);
        proxy.heal();
        return true;
      case 'step clock':
        await member.stepClock(fault.offsetMs);
        return true;
      case 'lose reply': {
        const before = proxy.lostReplies;
        proxy.loseReplyTo(fault.statement);
        const isLost = () => proxy.lostReplies > before;
        await until('the statement', isLost, STATEMENT_WAIT_MS).catch(() => proxy.loseNoReply());
        return isLost();
      }
    }
  }
}
