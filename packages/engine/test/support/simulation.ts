import {
  type ClaimedExecution,
  type Effect,
  type ExecutionState,
  type Lease,
  type NodeRecord,
  type Plan,
  resume,
  type StepEvent,
  stepAll,
} from '../../src/index.ts';
import { MemoryStore, type StoredExecution } from './memory-store.ts';
import { playScript } from './nodes.ts';
import { randomFrom } from './random.ts';
import { isEnded } from './world.ts';

const LEASE_MS = 30_000;
const ORGANISATION = 1;
const LIMITS = { maxOutputBytes: 1_000_000, inlineWaitMs: 5_000 };

export interface SimulationOptions {
  readonly seed: number;
  readonly plans: readonly Plan[];
  readonly workers: number;
  /** Chance in 1 that a turn is a crash, a long sleep or a cancel. */
  readonly trouble: { readonly crash: number; readonly sleep: number; readonly cancel: number };
}

export interface SimulationEnd {
  /** By place of its plan. */
  readonly executions: readonly StoredExecution[];
  readonly turns: number;
}

interface Run {
  readonly lease: Lease;
  readonly plan: Plan;
  readonly state: ExecutionState;
  readonly running: Map<string, () => StepEvent>;
  todo: Effect[];
  timerAtMs: number | null;
}

interface Worker {
  readonly id: string;
  readonly runs: Map<number, Run>;
  /** When it last knew its lease to be good, by its own clock. */
  renewedAtMs: number;
  asleepUntilMs: number;
}

/**
 * Several workers, one store and one clock, all from one seed. Each turn one worker does one thing; workers crash,
 * sleep past their lease and come back with old leases, and executions are cancelled at any time.
 * @throws when an invariant is broken
 */
export class Simulation {
  readonly #options: SimulationOptions;
  readonly #random: () => number;
  readonly #store: MemoryStore;
  readonly #workers: Worker[] = [];
  readonly #finals = new Map<number, string>();
  #nowMs = 1_000_000;
  #workersMade = 0;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#random = randomFrom(options.seed);
    this.#store = new MemoryStore({ now: () => this.#nowMs, leaseMs: LEASE_MS, maxCrashedAttempts: 3 });
  }

  async run(): Promise<SimulationEnd> {
    const ids = await this.#store.reserveIds(this.#options.plans.length);
    for (let count = 0; count < this.#options.workers; count++) await this.#addWorker();
    await this.#store.start(ids.map((executionId) => this.#request(executionId)));
    let turns = 0;
    while (this.#finals.size < ids.length) {
      turns += 1;
      if (turns > 50_000) throw new Error(`not all executions ended (seed ${this.#options.seed})`);
      await this.#turn(ids);
      // Reading is a copy of everything, so it is not done after each turn.
      if (turns % 10 === 0) for (const id of ids) this.#checkFinal(id);
    }
    return { executions: ids.map((id) => this.#read(id)), turns };
  }

  async #turn(ids: readonly number[]): Promise<void> {
    this.#nowMs += Math.floor(this.#random() * 200);
    const { crash, sleep, cancel } = this.#options.trouble;
    const worker = this.#pick(this.#workers);
    if (worker === undefined) return;
    const luck = this.#random();
    if (luck < crash) {
      this.#workers.splice(this.#workers.indexOf(worker), 1);
      await this.#addWorker();
    } else if (luck < crash + sleep) {
      worker.asleepUntilMs = this.#nowMs + this.#random() * 2 * LEASE_MS;
    } else if (luck < crash + sleep + cancel) {
      await this.#store.cancel(ORGANISATION, this.#pick(ids) ?? 0);
    } else if (luck < 0.2 && this.#workers.every(({ runs }) => runs.size === 0)) {
      this.#nowMs += 10_000;
    } else if (worker.asleepUntilMs <= this.#nowMs) {
      await this.#work(worker);
    }
  }

  async #work(worker: Worker): Promise<void> {
    if (this.#nowMs - worker.renewedAtMs > LEASE_MS / 3) {
      if (!(await this.#store.heartbeat(worker.id))) {
        // Its lease ran out: what it holds is not its own any more. It goes on as a new worker.
        await this.#proveFenced(worker);
        this.#workers.splice(this.#workers.indexOf(worker), 1);
        await this.#addWorker();
        return;
      }
      worker.renewedAtMs = this.#nowMs;
    }
    const run = this.#pick([...worker.runs.values()]);
    if (run === undefined || this.#random() < 0.3) await this.#claim(worker);
    else if (this.#random() < 0.01) await this.#shutDown(worker);
    else await this.#advance(worker, run);
  }

  /** Late writes of a worker that lost its lease may only go through while nobody took its executions over. */
  async #proveFenced(worker: Worker): Promise<void> {
    for (const { lease, plan } of worker.runs.values()) {
      const before = this.#read(lease.executionId);
      const isOwn =
        before.status === 'running' && before.claim === lease.claim && before.workerId === worker.id;
      if (isOwn) continue;
      const record: NodeRecord = { nodeId: plan.trigger.id, status: 'skipped', completedAtMs: this.#nowMs };
      if (await this.#store.finish(lease, [record], { status: 'completed' }))
        this.#broken('a fenced write went through');
      if (JSON.stringify(this.#read(lease.executionId)) !== JSON.stringify(before)) {
        this.#broken('a fenced write changed something');
      }
    }
  }

  async #claim(worker: Worker): Promise<void> {
    for (const claimed of await this.#store.claim(worker.id, 1 + Math.floor(this.#random() * 3))) {
      worker.runs.set(claimed.lease.executionId, this.#begin(claimed));
    }
  }

  #begin({ lease, input, deadlineAtMs, records }: ClaimedExecution): Run {
    const plan = this.#options.plans[lease.executionId - 1];
    if (plan === undefined) throw new Error('an execution without a plan');
    const start = { executionId: lease.executionId, triggerData: input, deadlineAtMs, limits: LIMITS };
    const { state, effects } = resume(plan, start, records, this.#nowMs);
    return { lease, plan, state, running: new Map(), todo: [...effects], timerAtMs: null };
  }

  async #shutDown(worker: Worker): Promise<void> {
    for (const run of worker.runs.values()) {
      run.todo = [...stepAll(run.state, [{ kind: 'stop', reason: 'shutdown', atMs: this.#nowMs }]).effects];
      await this.#performAll(worker, run);
    }
    await this.#store.retireWorker(worker.id);
    this.#workers.splice(this.#workers.indexOf(worker), 1);
    await this.#addWorker();
  }

  async #advance(worker: Worker, run: Run): Promise<void> {
    if (run.todo.length === 0) {
      const event = this.#nextEvent(run);
      if (event !== null) run.todo = [...stepAll(run.state, [event]).effects];
    }
    // Sometimes the worker is caught between two effects: whatever happens next, happens to a half-done list.
    await this.#performAll(worker, run, this.#random() < 0.3 ? 1 : Infinity);
  }

  async #performAll(worker: Worker, run: Run, limit = Infinity): Promise<void> {
    for (let done = 0; done < limit; done++) {
      const effect = run.todo.shift();
      if (effect === undefined) return;
      if (!(await this.#perform(effect, run))) {
        worker.runs.delete(run.lease.executionId);
        return;
      }
    }
  }

  /** False when the run is over. */
  async #perform(effect: Effect, run: Run): Promise<boolean> {
    const { lease } = run;
    switch (effect.kind) {
      case 'start_node':
        return this.#start(effect, run);
      case 'abort_node':
        run.running.delete(effect.nodeId);
        return true;
      case 'wait_until':
        run.timerAtMs = effect.atMs;
        return true;
      case 'checkpoint':
        return this.#store.checkpoint(lease, effect.records, effect);
      case 'park':
        await this.#store.park(lease, effect.records, effect.wakeAtMs, effect);
        return false;
      case 'hand_back':
        await this.#store.handBack(lease, effect.records, effect);
        return false;
      case 'finish':
        await this.#store.finish(lease, effect.records, effect.outcome, effect);
        return false;
    }
  }

  #start({ node, attempt, config, inputs }: Extract<Effect, { kind: 'start_node' }>, run: Run): boolean {
    const stored = this.#read(run.lease.executionId);
    const isOwn = stored.status === 'running' && stored.claim === run.lease.claim;
    // A real worker asks the same of its own clock: no side effect once its lease may be over.
    if (node.kind === 'effect' && !isOwn) return false;
    const record = stored.records.findLast((one) => one.nodeId === node.id);
    if (node.kind === 'effect' && record?.status !== 'running')
      this.#broken(`${node.id} started without a checkpoint`);
    if (isOwn && record !== undefined && isEnded(record))
      this.#broken(`${node.id} was run again after it had ended`);
    const before = run.state.records[node.index];
    const failures = before === undefined || before.status === 'skipped' ? 0 : (before.failures ?? 0);
    run.running.set(node.id, () => {
      const result = playScript({ nodeId: node.id, config, inputs, nowMs: this.#nowMs }, failures);
      const jitter = this.#random();
      return { kind: 'node_ended', nodeId: node.id, attempt, result, atMs: this.#nowMs, jitter };
    });
    return true;
  }

  #nextEvent(run: Run): StepEvent | null {
    const isDue = run.timerAtMs !== null && run.timerAtMs <= this.#nowMs;
    if (isDue) {
      run.timerAtMs = null;
      return { kind: 'time', atMs: this.#nowMs, jitter: this.#random() };
    }
    const nodeId = this.#pick([...run.running.keys()]);
    const end = nodeId === undefined ? undefined : run.running.get(nodeId);
    if (nodeId === undefined || end === undefined) {
      this.#nowMs += 100;
      return null;
    }
    run.running.delete(nodeId);
    return end();
  }

  #checkFinal(id: number): void {
    const stored = this.#read(id);
    const text = JSON.stringify(stored);
    const before = this.#finals.get(id);
    if (before !== undefined && before !== text) this.#broken(`execution ${id} changed after its end`);
    if (['completed', 'failed', 'cancelled'].includes(stored.status)) this.#finals.set(id, text);
  }

  #request(executionId: number): Parameters<MemoryStore['start']>[0][number] {
    const leaseTo = this.#random() < 0.5 ? (this.#pick(this.#workers)?.id ?? null) : null;
    return {
      executionId,
      organisationId: ORGANISATION,
      workflowId: 1,
      workflowVersion: 1,
      triggerType: 'test.trigger',
      displayName: 'Simulated',
      isTestMode: false,
      input: { x: executionId },
      // A start leased to a worker that never hears of it is what a crash after the commit leaves behind.
      leaseTo,
      timeoutMs: null,
    };
  }

  async #addWorker(): Promise<void> {
    this.#workersMade += 1;
    const id = `worker-${this.#workersMade}`;
    await this.#store.registerWorker(id);
    this.#workers.push({ id, runs: new Map(), renewedAtMs: this.#nowMs, asleepUntilMs: 0 });
  }

  #read(id: number): StoredExecution {
    const stored = this.#store.read(id);
    if (stored === null) this.#broken(`execution ${id} was lost`);
    return stored;
  }

  #pick<Item>(items: readonly Item[]): Item | undefined {
    return items[Math.floor(this.#random() * items.length)];
  }

  #broken(what: string): never {
    throw new Error(`${what} (seed ${this.#options.seed})`);
  }
}
