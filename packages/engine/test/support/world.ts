import { findSlot } from '../../src/frames.ts';
import {
  type AttemptResult,
  begin,
  type Effect,
  type ExecutionInput,
  type ExecutionState,
  type NodeRecord,
  type NodeResult,
  type Outcome,
  type Plan,
  type PlanNode,
  putOff,
  resume,
  type StepEvent,
  type StoredSignal,
  stepAll,
} from '../../src/index.ts';
import { recordBytes } from '../../src/record-bytes.ts';
import { firstRecords } from './flows.ts';
import { awaitedRound, isHanging, playScript, playSignal } from './nodes.ts';
import { isEnded, nameOf, type Schedule, type WorldEnd } from './world-schedule.ts';

const LIMITS = { maxOutputBytes: 1_000_000, maxExecutionBytes: 1_000_000_000, inlineWaitMs: 5_000 };
const SOON_MS = 3_600_000; // later times are limits of nodes, which never expire in these tests
/** For how long attempts are put off, in turn: some wait in memory, others are parked. */
const PUT_OFFS_MS = [20_000, 0, 3_000];
const [START_MS, DATA] = [1_000, { x: 1 }];

/** A worker's memory. */
interface Memory {
  readonly state: ExecutionState;
  readonly running: { name: string; run: () => StepEvent }[];
  /** Attempts that were started and have neither ended nor been aborted; some never end by themselves. */
  readonly atWork: Map<string, PlanNode>;
  todo: Effect[];
  timerAtMs: number | null;
}

type Start = Extract<Effect, { kind: 'start_node' }>;

/**
 * One execution, its journal and its clock, without any concurrency of the host: performs the engine's effects like a worker and checks the
 * invariants at each (SPEC.md, E11, E12, L8).
 */
export class World {
  readonly #plan: Plan;
  readonly #schedule: Schedule;
  readonly #journal: NodeRecord[] = [];
  readonly #latest = new Map<string, NodeRecord>();
  /** Iterations stored as ended, by the name of the loop with their index. */
  readonly #ended = new Set<string>();
  readonly #signals: StoredSignal[] = [];
  /** Signals to be sent later. */
  readonly #unsent: Omit<StoredSignal, 'seq'>[] = [];
  readonly #asked = new Set<string>();
  readonly #shutdowns: Set<number>;
  readonly #deadlineAtMs: number | null;
  #nowMs = START_MS;
  #endedAtMs = 0;
  #effects = 0;
  #events = 0;
  #attempts = 0;
  #consumedAiTokens = 0;
  #storedBytes = 0;
  #outcome: Outcome | null = null;

  constructor(plan: Plan, schedule: Schedule) {
    this.#plan = plan;
    this.#schedule = schedule;
    this.#shutdowns = new Set(schedule.shutdownsAt);
    this.#deadlineAtMs = schedule.timeoutMs === undefined ? null : START_MS + schedule.timeoutMs;
    this.#journal.push(...firstRecords(plan, DATA, START_MS));
    for (const record of this.#journal) this.#latest.set(record.nodeId, record);
    for (const record of this.#journal) this.#storedBytes += recordBytes(record);
  }

  /** @throws when a rule is broken, or when the execution doesn't end */
  run(): WorldEnd {
    for (let lives = 0; this.#outcome === null; lives++) {
      if (lives > 500) throw new Error('the execution does not end');
      this.#live();
    }
    const { status } = this.#outcome;
    const error = this.#outcome.status === 'failed' ? this.#outcome.error : null;
    const isLate = this.#deadlineAtMs !== null && this.#endedAtMs >= this.#deadlineAtMs;
    if (status !== 'cancelled' && isLate !== (error?.code === 'execution_timeout'))
      throw new Error(`ended ${isLate ? 'after' : 'before'} its deadline, but ${error?.code ?? status}`);
    return {
      ...{ status, error, records: this.#journal },
      ...{ consumedAiTokens: this.#consumedAiTokens, storedBytes: this.#storedBytes, effects: this.#effects },
    };
  }

  /** From one start or takeover until the end, a crash or a park. */
  #live(): void {
    const input: ExecutionInput = {
      executionId: 7,
      triggerData: DATA,
      deadlineAtMs: this.#deadlineAtMs,
      limits: { ...LIMITS, maxExecutionBytes: this.#schedule.maxBytes ?? LIMITS.maxExecutionBytes },
      storedBytes: this.#storedBytes,
    };
    const { state, effects } =
      this.#journal.length === 0 && this.#signals.length === 0
        ? begin(this.#plan, input, this.#nowMs)
        : resume(this.#plan, input, this.#journal, this.#nowMs, this.#signals);
    const memory: Memory = { state, running: [], atWork: new Map(), todo: [...effects], timerAtMs: null };
    for (let turns = 0; ; turns++) {
      if (turns > 5_000) throw new Error('the run does not end');
      for (const effect of memory.todo) {
        if (this.#schedule.crashesAt.has(this.#effects)) {
          this.#effects += 1;
          return;
        }
        this.#effects += 1;
        if (this.#perform(effect, memory)) return;
      }
      if (this.#cancel(memory) || this.#shutDown(memory)) return;
      memory.todo = [...stepAll(state, this.#nextEvents(memory)).effects];
    }
  }

  #cancel(memory: Memory): boolean {
    if (this.#events !== this.#schedule.cancelAt) return false;
    this.#outcome = { status: 'cancelled' };
    const { effects } = stepAll(memory.state, [{ kind: 'stop', reason: 'cancelled', atMs: this.#nowMs }]);
    if (effects.some((effect) => effect.kind !== 'abort_node')) throw new Error('a cancel may only abort');
    for (const effect of effects) this.#perform(effect, memory);
    this.#checkIdle(memory);
    return true;
  }

  #shutDown(memory: Memory): boolean {
    if (!this.#shutdowns.delete(this.#events)) return false;
    const { effects } = stepAll(memory.state, [{ kind: 'stop', reason: 'shutdown', atMs: this.#nowMs }]);
    if (effects.at(-1)?.kind !== 'hand_back') throw new Error('a shutdown must hand the execution back');
    for (const effect of effects) this.#perform(effect, memory);
    for (const { node, record } of memory.state.root.slots) {
      const isStored = record === undefined || this.#latest.get(node.id) === record;
      if (!isStored && isEnded(record)) throw new Error(`the end of ${node.id} was not handed back`);
    }
    return true;
  }

  #checkIdle({ atWork }: Memory): void {
    if (atWork.size > 0) throw new Error(`${[...atWork.keys()].join(', ')} was left running`);
  }

  /** True when it was the last effect of this run. */
  #perform(effect: Effect, memory: Memory): boolean {
    switch (effect.kind) {
      case 'start_node':
        this.#start(effect, memory);
        return false;
      case 'abort_node': {
        const name = nameOf(effect.nodeId, effect.iteration);
        memory.atWork.delete(name);
        memory.running.splice(0, Infinity, ...memory.running.filter((one) => one.name !== name));
        return false;
      }
      case 'wait_until':
        memory.timerAtMs = effect.atMs;
        return false;
      case 'checkpoint':
        this.#store(effect);
        return false;
      case 'park':
        this.#checkIdle(memory);
        this.#store(effect);
        this.#sleep(effect);
        return true;
      case 'hand_back':
        this.#checkIdle(memory);
        this.#store(effect);
        return true;
      case 'finish':
        this.#checkIdle(memory);
        this.#store(effect);
        this.#outcome = effect.outcome;
        // The clock may be ahead: events that arrived together with the last one are no longer processed.
        this.#endedAtMs = memory.state.nowMs;
        return true;
    }
  }

  /** Parked: an unreported signal wakes it at once, else a later signal or the time. */
  #sleep({ wakeAtMs, signalsSeen }: Extract<Effect, { kind: 'park' }>): void {
    if (wakeAtMs !== null && wakeAtMs <= this.#nowMs) throw new Error('parked until a time that has passed');
    if (signalsSeen < this.#signals.length) return;
    const isSoon = wakeAtMs !== null && wakeAtMs - this.#nowMs < SOON_MS;
    if (this.#unsent.length > 0 && (!isSoon || this.#choice() < 0.5)) {
      this.#send();
    } else if (wakeAtMs === null) {
      throw new Error('parked for ever, and nobody sends a signal');
    } else {
      this.#nowMs = wakeAtMs;
    }
  }

  #store({
    records,
    consumedAiTokens,
    storedBytes,
  }: Extract<Effect, { readonly storedBytes: number }>): void {
    for (const record of records) {
      const name = nameOf(record.nodeId, record.iteration);
      this.#journal.push(record);
      this.#checkOrder(record, name);
      if (record.status === 'iteration_ended') {
        if (this.#ended.has(name)) throw new Error(`iteration ${name} was recorded twice`);
        this.#ended.add(name);
        continue;
      }
      const before = this.#latest.get(name);
      if (before !== undefined && isEnded(before)) throw new Error(`${name} was recorded twice`);
      this.#latest.set(name, record);
      const node = this.#node(record.nodeId);
      const isAgain =
        record.status === 'running' && before?.status === 'running' && before.attempts < record.attempts;
      if (node.kind === 'loop' && (isAgain || record.status === 'waiting'))
        this.#forget(node, record.iteration ?? []);
    }
    this.#consumedAiTokens = consumedAiTokens;
    for (const record of records) this.#storedBytes += recordBytes(record);
    if (storedBytes !== this.#storedBytes)
      throw new Error(`${this.#storedBytes} bytes are stored, not ${storedBytes}`);
  }

  /** What happened inside a loop is stored before its end; otherwise a reader couldn't distinguish its attempts. */
  #checkOrder({ nodeId, status, iteration = [] }: NodeRecord, name: string): void {
    const node = this.#node(nodeId);
    const loops = [...this.#loopsAround(node), ...(status === 'iteration_ended' ? [node] : [])];
    iteration.forEach((_, level) => {
      const around = this.#latest.get(nameOf(loops[level]?.id ?? '', iteration.slice(0, level)));
      if (around !== undefined && isEnded(around)) throw new Error(`${name} is stored after its loop`);
    });
  }

  /** Another attempt of a loop: what happened inside no longer counts. */
  #forget(loop: PlanNode, iteration: readonly number[]): void {
    const isInside = (nodeId: string, at: readonly number[] = []): boolean =>
      at.length > iteration.length &&
      iteration.every((index, level) => at[level] === index) &&
      this.#loopsAround(this.#node(nodeId)).includes(loop);
    for (const [name, record] of this.#latest) {
      if (isInside(record.nodeId, record.iteration)) this.#latest.delete(name);
    }
    for (const name of this.#ended) {
      const [nodeId = '', ...at] = name.split(' ');
      const isOwn = nodeId === loop.id && at.slice(0, -1).join(' ') === iteration.join(' ');
      if (isOwn || isInside(nodeId, at.slice(0, -1).map(Number))) this.#ended.delete(name);
    }
  }

  #loopsAround(node: PlanNode): readonly PlanNode[] {
    const loops: PlanNode[] = [];
    for (let loop = node.scope.loop; loop !== null; loop = loop.scope.loop) loops.unshift(loop);
    return loops;
  }

  #node(nodeId: string): PlanNode {
    const node = this.#plan.nodes[this.#plan.nodeIndexes.get(nodeId) ?? -1];
    if (node === undefined) throw new Error(`there is no node ${nodeId}`);
    return node;
  }

  #start(effect: Start, memory: Memory): void {
    const { node, iteration, config, resumed } = effect;
    const name = nameOf(node.id, iteration);
    if (!this.#isNewAttempt(effect, memory)) this.#checkStart(effect, name);
    if (memory.atWork.has(name)) throw new Error(`${name} was started while it runs`);
    memory.atWork.set(name, node);
    this.#checkConcurrency(effect, memory);
    const round = awaitedRound(config, resumed?.waiting ?? null);
    if (round !== null && !this.#asked.has(`${name} ${round}`)) {
      this.#asked.add(`${name} ${round}`);
      this.#unsent.push({ nodeId: node.id, iteration, payload: `${node.id}.${round}` });
    }
    const isPutOff = this.#isPutOff(effect);
    if (isHanging(config) && !isPutOff) return;
    const run = (): StepEvent => ({
      ...{ kind: 'node_ended', nodeId: node.id, iteration, attempt: effect.attempt },
      ...{
        result: isPutOff ? this.#putOff(name, memory) : this.#play(effect, memory),
        atMs: this.#nowMs,
        jitter: this.#choice(),
      },
    });
    memory.running.push({ name, run });
  }

  /** Pure nodes call nobody, and what was resumed has already done something. */
  #isPutOff({ node, resumed }: Start): boolean {
    if (node.kind !== 'effect' || resumed !== undefined) return false;
    this.#attempts += 1;
    return this.#schedule.putOffsAt?.has(this.#attempts) === true;
  }

  #putOff(name: string, memory: Memory): AttemptResult {
    memory.atWork.delete(name);
    const ms = PUT_OFFS_MS[this.#attempts % PUT_OFFS_MS.length] ?? 0;
    return putOff('api.example:443', this.#nowMs + ms);
  }

  #play(effect: Start, memory: Memory): NodeResult {
    const { node, iteration, config, inputs, inputOrder, resumed } = effect;
    memory.atWork.delete(nameOf(node.id, iteration));
    if (resumed !== undefined) return playSignal(config, resumed.signal, resumed.waiting, this.#nowMs);
    const record = findSlot(memory.state.root, node, iteration)?.record;
    const failures = record === undefined || record.status === 'skipped' ? 0 : (record.failures ?? 0);
    return playScript({ nodeId: node.id, config, inputs, inputOrder, nowMs: this.#nowMs }, failures);
  }

  /** L3: iterations of one loop with a running node; waiting ones aren't visible here. */
  #checkConcurrency({ node, iteration }: Start, { atWork }: Memory): void {
    this.#loopsAround(node).forEach((loop, level) => {
      const at = iteration.slice(0, level).join(' ');
      const running = new Set<string | undefined>();
      for (const [name, other] of atWork) {
        const [, ...place] = name.split(' ');
        const isInside = this.#loopsAround(other)[level] === loop && place.slice(0, level).join(' ') === at;
        if (isInside) running.add(place[level]);
      }
      const most = Number(loop.writtenConfig.concurrency ?? 1);
      if (running.size > most) throw new Error(`${running.size} iterations of ${loop.id} run, not ${most}`);
    });
  }

  /** A pure node in another attempt of a loop, which needn't be stored yet. */
  #isNewAttempt({ node, iteration }: Start, { state }: Memory): boolean {
    if (node.kind === 'effect') return false;
    return this.#loopsAround(node).some((loop, level) => {
      const at = iteration.slice(0, level);
      const [now, stored] = [findSlot(state.root, loop, at)?.record, this.#latest.get(nameOf(loop.id, at))];
      return now?.status === 'running' && stored?.status === 'running' && now.attempts > stored.attempts;
    });
  }

  #checkStart({ node, iteration, attempt, resumed }: Start, name: string): void {
    const stored = this.#latest.get(name);
    if (stored !== undefined && isEnded(stored)) throw new Error(`${name} was run again after it had ended`);
    this.#loopsAround(node).forEach((loop, level) => {
      const ended = nameOf(loop.id, iteration.slice(0, level + 1));
      if (this.#ended.has(ended)) throw new Error(`${name} was run although iteration ${ended} had ended`);
    });
    if (node.kind !== 'effect') return;
    const status = resumed === undefined ? 'running' : 'waiting';
    if (stored?.status !== status || stored.attempts !== attempt)
      throw new Error(`${name} was started without a checkpoint`);
    for (const edge of node.incoming) {
      const source = this.#latest.get(nameOf(node.scope.nodes[edge.source]?.id ?? '', iteration));
      if (source === undefined || !isEnded(source)) throw new Error(`${name} depends on what is not stored`);
    }
    this.#loopsAround(node).forEach((loop, level) => {
      const around = this.#latest.get(nameOf(loop.id, iteration.slice(0, level)));
      if (around?.status !== 'running') throw new Error(`${name} is inside a loop that is not stored`);
    });
  }

  /** Usually one event, sometimes all possible ones. */
  #nextEvents(memory: Memory): StepEvent[] {
    const events = [this.#nextEvent(memory)];
    while (memory.running.length > 0 && this.#choice() < 0.2) events.push(this.#nextEvent(memory));
    return events;
  }

  #nextEvent(memory: Memory): StepEvent {
    const isTimeNear = memory.timerAtMs !== null && memory.timerAtMs - this.#nowMs < SOON_MS;
    const { length } = memory.running;
    const possible = length + (isTimeNear ? 1 : 0) + (this.#unsent.length > 0 ? 1 : 0);
    if (possible === 0) throw new Error('nothing runs, nothing is waited for, and yet it has not ended');
    const chosen = Math.floor(this.#choice() * possible);
    this.#events += 1;
    const [ended] = memory.running.splice(chosen, 1);
    if (ended !== undefined) return ended.run();
    if (!isTimeNear || chosen > length) {
      return { kind: 'signal', ...this.#send(), atMs: this.#nowMs, jitter: this.#choice() };
    }
    this.#nowMs = Math.max(this.#nowMs, memory.timerAtMs ?? 0);
    memory.timerAtMs = null;
    return { kind: 'time', atMs: this.#nowMs, jitter: this.#choice() };
  }

  /** Sends a signal. */
  #send(): StoredSignal {
    const [one] = this.#unsent.splice(Math.floor(this.#choice() * this.#unsent.length), 1);
    if (one === undefined) throw new Error('nobody sends a signal');
    const signal = { ...one, seq: this.#signals.length + 1 };
    this.#signals.push(signal);
    return signal;
  }

  #drawn = 0;
  #choice(): number {
    this.#drawn += 1;
    const { choices } = this.#schedule;
    return choices[this.#drawn % Math.max(1, choices.length)] ?? 0;
  }
}
