import { findSlot } from '../../src/frames.ts';
import {
  awaitSignal,
  type ClaimedExecution,
  type Effect,
  isFinalStatus,
  type NodeRecord,
  type NodeResult,
  resume,
  type StepEvent,
  type StoredSignal,
  stepAll,
  success,
} from '../../src/index.ts';
import { Invariants } from './invariants.ts';
import { MemoryStore } from './memory-store.ts';
import { awaitedRound, isHanging, playScript, playSignal } from './nodes.ts';
import { randomFrom } from './random.ts';
import {
  childId,
  FIRST_CHILD,
  type Run,
  type SimulatedChild,
  type SimulationEnd,
  type SimulationOptions,
  type Start,
  type Worker,
} from './simulation-parts.ts';
import type { StartRequest } from './store-harness.ts';
import { nameOf } from './world-schedule.ts';

const LEASE_MS = 30_000;
const ORGANISATION = 1;
const LIMITS = { maxOutputBytes: 1_000_000, maxExecutionBytes: 1_000_000_000, inlineWaitMs: 5_000 };
/** Maximum concurrent executions of a called workflow. */
const MAX_CHILDREN = 2;

/**
 * Several workers, one store and one clock, all from one seed. Each turn one worker does one thing; workers crash, sleep past their lease
 * and return with old leases, executions are cancelled at any time, nodes start children and wait for them, and signals are sent.
 * @throws when an invariant is broken
 */
export class Simulation {
  readonly #options: SimulationOptions;
  readonly #random: () => number;
  readonly #store: MemoryStore;
  readonly #workers: Worker[] = [];
  readonly #invariants: Invariants;
  readonly #unsent: { readonly executionId: number; readonly signal: Omit<StoredSignal, 'seq'> }[] = [];
  readonly #asked = new Set<string>();
  #nowMs = 1_000_000;
  #workersMade = 0;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#random = randomFrom(options.seed);
    this.#store = new MemoryStore({ now: () => this.#nowMs, leaseMs: LEASE_MS, maxCrashedAttempts: 3 });
    this.#invariants = new Invariants(this.#store, options.seed);
  }

  async run(): Promise<SimulationEnd> {
    const ids = await this.#store.reserveIds(this.#options.plans.length);
    for (let count = 0; count < this.#options.workers; count++) await this.#addWorker();
    const requests: StartRequest[] = [];
    for (const [place, id] of ids.entries()) requests.push(await this.#aheadOf(this.#request(id, place)));
    await this.#store.start(requests);
    let turns = 0;
    while (this.#store.overview().some(({ status }) => !isFinalStatus(status))) {
      turns += 1;
      if (turns > 100_000) throw new Error(`not all executions ended (seed ${this.#options.seed})`);
      await this.#turn();
      // Reading copies everything, so it isn't done after every turn.
      if (turns % 10 === 0) this.#invariants.checkAll();
    }
    this.#invariants.checkAll();
    const executions = ids.map((id) => this.#invariants.read(id));
    return { executions, children: this.#children(), turns };
  }

  /** Some starts are run before they are stored, as far as they are pure; their worker continues them, or never learns of them. */
  async #aheadOf(request: StartRequest): Promise<StartRequest> {
    const worker = this.#workers.find(({ id }) => id === request.leaseTo);
    if (worker === undefined || this.#random() < 0.3) return request;
    const { executionId, workflowId, input, leaseTo, timeoutMs } = request;
    const lease = { executionId, workerId: leaseTo ?? '', claim: 1 };
    const deadlineAtMs = timeoutMs === null ? null : this.#nowMs + timeoutMs;
    const startedAtMs = this.#nowMs;
    const claimed = {
      ...request,
      lease,
      workflowId,
      input,
      startedAtMs,
      deadlineAtMs,
      records: [],
      signals: [],
    };
    const run = this.#begin(claimed);
    await this.#runAhead(run, Math.floor(this.#random() * 10));
    const [write] = run.todo;
    const isEnd = write?.kind === 'finish';
    if (!isEnd && this.#random() < 0.7) worker.runs.set(executionId, run);
    if (!isEnd && write?.kind !== 'checkpoint') return request;
    run.todo.shift();
    const { records, consumedAiTokens } = write;
    return { ...request, ahead: { records, consumedAiTokens, outcome: isEnd ? write.outcome : null } };
  }

  /** Until something has to be stored or waited for, or this many nodes were started. */
  async #runAhead(run: Run, nodes: number): Promise<void> {
    for (let left = nodes; ; ) {
      for (let effect = run.todo[0]; effect !== undefined; effect = run.todo[0]) {
        if (effect.kind === 'start_node') {
          left -= 1;
          if (left < 0 || effect.node.kind !== 'pure') return;
          this.#startNode(effect, run);
        } else if (effect.kind === 'abort_node' || effect.kind === 'wait_until') {
          await this.#perform(effect, run);
        } else return;
        run.todo.shift();
      }
      if (run.running.size === 0 || run.state.phase.kind !== 'running') return;
      run.todo = [...stepAll(run.state, await this.#nextEvents(run)).effects];
    }
  }

  #children(): SimulatedChild[] {
    const all = new Map(this.#store.overview().map((one) => [one.request.executionId, one]));
    const depthOf = (id: number): number => {
      const parent = all.get(id)?.request.parent;
      return parent === undefined ? 0 : 1 + depthOf(parent.executionId);
    };
    return [...all.values()].flatMap(({ request: { parent, executionId, workflowId } }) => {
      if (parent === undefined) return [];
      return [
        {
          ...{ execution: this.#invariants.read(executionId), workflow: workflowId - FIRST_CHILD },
          ...{ waits: parent.waits, depth: depthOf(executionId) },
        },
      ];
    });
  }

  async #turn(): Promise<void> {
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
      const any = this.#pick(this.#store.overview());
      await this.#store.cancel(ORGANISATION, any?.request.executionId ?? 0);
    } else if (luck < 0.1) {
      await this.#sendSignal();
    } else if (luck < 0.2 && this.#workers.every(({ runs }) => runs.size === 0)) {
      this.#nowMs += 10_000;
    } else if (worker.asleepUntilMs <= this.#nowMs) {
      await this.#work(worker);
    }
  }

  async #sendSignal(): Promise<void> {
    const [one] = this.#unsent.splice(Math.floor(this.#random() * this.#unsent.length), 1);
    if (one === undefined) return;
    await this.#store.sendSignal(one.executionId, one.signal);
    // Sometimes a signal is sent twice: nothing is awaited after the second.
    if (this.#random() < 0.3 && one.signal.payload === `${one.signal.nodeId}.2`)
      await this.#store.sendSignal(one.executionId, { ...one.signal, payload: 'twice' });
  }

  async #work(worker: Worker): Promise<void> {
    if (this.#nowMs - worker.renewedAtMs > LEASE_MS / 3) {
      if (!(await this.#store.heartbeat(worker.id))) {
        // Its lease expired: its executions are no longer its own. It continues as a new worker.
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

  /** Late writes of a worker that lost its lease may succeed only while nobody has taken its executions over. */
  async #proveFenced(worker: Worker): Promise<void> {
    for (const { lease, state } of worker.runs.values()) {
      const before = this.#invariants.read(lease.executionId);
      const isOwn =
        before.status === 'running' && before.claim === lease.claim && before.workerId === worker.id;
      if (isOwn) continue;
      const nodeId = state.plan.trigger.id;
      const record: NodeRecord = { nodeId, status: 'skipped', completedAtMs: this.#nowMs };
      if (await this.#store.finish(lease, [record], { status: 'completed' }))
        this.#invariants.broken('a fenced write went through');
      if (JSON.stringify(this.#invariants.read(lease.executionId)) !== JSON.stringify(before)) {
        this.#invariants.broken('a fenced write changed something');
      }
    }
  }

  async #claim(worker: Worker): Promise<void> {
    for (const claimed of await this.#store.claim(worker.id, 1 + Math.floor(this.#random() * 3))) {
      worker.runs.set(claimed.lease.executionId, this.#begin(claimed));
    }
    this.#invariants.checkRunning([...this.#options.children.keys()].map(childId), MAX_CHILDREN);
  }

  #begin({ lease, workflowId, input, deadlineAtMs, records, signals }: ClaimedExecution): Run {
    const { plans, children } = this.#options;
    const plan = workflowId < FIRST_CHILD ? plans[workflowId] : children[workflowId - FIRST_CHILD];
    if (plan === undefined) throw new Error('an execution without a plan');
    const start = { executionId: lease.executionId, triggerData: input, deadlineAtMs, limits: LIMITS };
    const { state, effects } = resume(plan, start, records, this.#nowMs, signals);
    return { lease, state, running: new Map(), todo: [...effects], timerAtMs: null };
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
      const events = await this.#nextEvents(run);
      if (events.length > 0) run.todo = [...stepAll(run.state, events).effects];
    }
    // Sometimes the worker is interrupted between two effects: whatever happens next meets a half-finished list.
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
        run.running.delete(nameOf(effect.nodeId, effect.iteration));
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

  #start(effect: Start, run: Run): boolean {
    const { node } = effect;
    const stored = this.#invariants.read(run.lease.executionId);
    const isOwn = stored.status === 'running' && stored.claim === run.lease.claim;
    // A real worker checks this with its own clock: no side effect once its lease may have expired.
    if (node.kind === 'effect' && !isOwn) return false;
    if (isOwn) this.#invariants.checkStart(effect, stored);
    this.#startNode(effect, run);
    return true;
  }

  #startNode(effect: Start, run: Run): void {
    const { node, iteration, attempt } = effect;
    const name = nameOf(node.id, iteration);
    this.#askForSignal(effect, run.lease.executionId);
    if (isHanging(effect.config)) return;
    run.running.set(name, async () => ({
      ...{ kind: 'node_ended', nodeId: node.id, iteration, attempt },
      result: await this.#play(effect, run),
      ...{ atMs: this.#nowMs, jitter: this.#random() },
    }));
  }

  #askForSignal({ node, iteration, config, resumed }: Start, executionId: number): void {
    const round = awaitedRound(config, resumed?.waiting ?? null);
    const name = `${executionId} ${nameOf(node.id, iteration)} ${round}`;
    if (round === null || this.#asked.has(name)) return;
    this.#asked.add(name);
    this.#unsent.push({
      executionId,
      signal: { nodeId: node.id, iteration, payload: `${node.id}.${round}` },
    });
  }

  async #play(effect: Start, run: Run): Promise<NodeResult> {
    const { node, iteration, config, inputs, inputOrder, resumed } = effect;
    if (node.type === 'test.child') return this.#playChild(effect, run.lease.executionId);
    if (resumed !== undefined) return playSignal(config, resumed.signal, resumed.waiting, this.#nowMs);
    const record = findSlot(run.state.root, node, iteration)?.record;
    const failures = record === undefined || record.status === 'skipped' ? 0 : (record.failures ?? 0);
    return playScript({ nodeId: node.id, config, inputs, inputOrder, nowMs: this.#nowMs }, failures);
  }

  async #playChild({ node, iteration, config, resumed }: Start, executionId: number): Promise<NodeResult> {
    if (resumed !== undefined) {
      const childId = Number(resumed.waiting.execution_id);
      const { status } = this.#invariants.read(childId);
      if (!isFinalStatus(status)) this.#invariants.broken(`child ${childId} told its end, but is ${status}`);
      return success({ text: 'child' });
    }
    const workflow = Number(config.workflow);
    const waits = config.waits === true;
    const key = { executionId, nodeId: node.id, iteration, callKey: '' };
    const [id = 0] = await this.#store.reserveIds(1);
    await this.#store.start([
      {
        ...this.#request(id, childId(workflow)),
        ...{ parent: { ...key, waits }, maxConcurrency: MAX_CHILDREN },
      },
    ]);
    const found = await this.#store.findChild(key);
    // The parent has ended: the result isn't stored.
    if (found === null) return success({ text: 'child' });
    return waits ? awaitSignal(null, { execution_id: found.executionId }) : success({ text: 'child' });
  }

  async #nextEvents(run: Run): Promise<StepEvent[]> {
    const atMs = this.#nowMs;
    if (this.#random() < 0.2) {
      const signals = await this.#store.readSignals(run.lease.executionId, run.state.signalsSeen);
      if (signals.length > 0)
        return signals.map((signal) => ({ kind: 'signal', ...signal, atMs, jitter: this.#random() }));
    }
    if (run.timerAtMs !== null && run.timerAtMs <= atMs) {
      run.timerAtMs = null;
      return [{ kind: 'time', atMs, jitter: this.#random() }];
    }
    const name = this.#pick([...run.running.keys()]);
    const end = name === undefined ? undefined : run.running.get(name);
    if (name === undefined || end === undefined) {
      this.#nowMs += 100;
      return [];
    }
    run.running.delete(name);
    return [await end()];
  }

  #request(executionId: number, workflowId: number): StartRequest {
    const leaseTo = this.#random() < 0.5 ? (this.#pick(this.#workers)?.id ?? null) : null;
    return {
      executionId,
      organisationId: ORGANISATION,
      workflowId,
      workflowVersion: 1,
      triggerType: 'test.trigger',
      displayName: 'Simulated',
      isTestMode: false,
      input: { x: executionId },
      // A start leased to a worker that never learns of it is the result of a crash after the commit.
      leaseTo,
      timeoutMs: this.#random() < 0.1 ? Math.floor(this.#random() * 60_000) : null,
    };
  }

  async #addWorker(): Promise<void> {
    this.#workersMade += 1;
    const id = `worker-${this.#workersMade}`;
    await this.#store.registerWorker(id);
    this.#workers.push({ id, runs: new Map(), renewedAtMs: this.#nowMs, asleepUntilMs: 0 });
  }

  #pick<Item>(items: readonly Item[]): Item | undefined {
    return items[Math.floor(this.#random() * items.length)];
  }
}
