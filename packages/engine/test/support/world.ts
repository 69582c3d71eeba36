import { findSlot } from '../../src/frames.ts';
import {
  begin,
  type Effect,
  type ExecutionError,
  type ExecutionInput,
  type ExecutionState,
  type NodeRecord,
  type Outcome,
  type Plan,
  type PlanNode,
  resume,
  type StepEvent,
  type StoredSignal,
  stepAll,
} from '../../src/index.ts';
import { playScript, playSignal, type Script } from './nodes.ts';

const LIMITS = { maxOutputBytes: 1_000_000, inlineWaitMs: 5_000 };
/** Times beyond this belong to limits of nodes, which no test of this kind lets run out. */
const SOON_MS = 3_600_000;

export interface Schedule {
  /** Which of the possible events comes next, as random numbers in [0, 1); repeats when it ends. */
  readonly choices: readonly number[];
  /** Before which effect, counted over the whole run, the worker's memory is lost. */
  readonly crashesAt: ReadonlySet<number>;
  /** Before which event, counted over the whole run, the execution is cancelled; null for never. */
  readonly cancelAt: number | null;
}

export interface WorldEnd {
  readonly status: Outcome['status'];
  readonly error: ExecutionError | null;
  /** In the order of storing. */
  readonly records: readonly NodeRecord[];
  readonly consumedAiTokens: number;
  /** How many effects were performed: the number of places to crash at. */
  readonly effects: number;
}

/** What a worker keeps in memory. */
interface Memory {
  readonly state: ExecutionState;
  readonly running: { name: string; run: () => StepEvent }[];
  todo: Effect[];
  timerAtMs: number | null;
}

type Start = Extract<Effect, { kind: 'start_node' }>;

/** A node and its iteration: `n1_2 0 3`. */
export function nameOf(nodeId: string, iteration: readonly number[] = []): string {
  return [nodeId, ...iteration].join(' ');
}

/**
 * One execution, its journal and its clock, without any concurrency of the host: performs the engine's effects as a
 * worker would and checks at each what must hold then (SPEC.md, E11, E12, L8).
 */
export class World {
  readonly #plan: Plan;
  readonly #schedule: Schedule;
  readonly #journal: NodeRecord[] = [];
  readonly #latest = new Map<string, NodeRecord>();
  /** Iterations that were stored as ended, by the name of the loop with their place. */
  readonly #ended = new Set<string>();
  readonly #signals: StoredSignal[] = [];
  /** Signals that somebody is going to send. */
  readonly #unsent: Omit<StoredSignal, 'seq'>[] = [];
  readonly #asked = new Set<string>();
  #nowMs = 1_000;
  #effects = 0;
  #events = 0;
  #consumedAiTokens = 0;
  #outcome: Outcome | null = null;

  constructor(plan: Plan, schedule: Schedule) {
    this.#plan = plan;
    this.#schedule = schedule;
  }

  /** @throws when a rule is broken, or when the execution does not end */
  run(): WorldEnd {
    for (let lives = 0; this.#outcome === null; lives++) {
      if (lives > 500) throw new Error('the execution does not end');
      this.#live();
    }
    const { status } = this.#outcome;
    const error = this.#outcome.status === 'failed' ? this.#outcome.error : null;
    return {
      ...{ status, error, records: this.#journal },
      ...{ consumedAiTokens: this.#consumedAiTokens, effects: this.#effects },
    };
  }

  /** From one start or take-over until the end, a crash or a park. */
  #live(): void {
    const input: ExecutionInput = {
      executionId: 7,
      triggerData: { x: 1 },
      deadlineAtMs: null,
      limits: LIMITS,
    };
    const { state, effects } =
      this.#journal.length === 0 && this.#signals.length === 0
        ? begin(this.#plan, input, this.#nowMs)
        : resume(this.#plan, input, this.#journal, this.#nowMs, this.#signals);
    const memory: Memory = { state, running: [], todo: [...effects], timerAtMs: null };
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
      if (this.#cancel(memory)) return;
      memory.todo = [...stepAll(state, this.#nextEvents(memory)).effects];
    }
  }

  #cancel({ state }: Memory): boolean {
    if (this.#events !== this.#schedule.cancelAt) return false;
    this.#outcome = { status: 'cancelled' };
    const { effects } = stepAll(state, [{ kind: 'stop', reason: 'cancelled', atMs: this.#nowMs }]);
    if (effects.some((effect) => effect.kind !== 'abort_node')) throw new Error('a cancel may only abort');
    return true;
  }

  /** True when it was the last effect of this run. */
  #perform(effect: Effect, memory: Memory): boolean {
    switch (effect.kind) {
      case 'start_node':
        this.#start(effect, memory);
        return false;
      case 'abort_node': {
        const name = nameOf(effect.nodeId, effect.iteration);
        memory.running.splice(0, Infinity, ...memory.running.filter((one) => one.name !== name));
        return false;
      }
      case 'wait_until':
        memory.timerAtMs = effect.atMs;
        return false;
      case 'checkpoint':
        this.#store(effect.records, effect.consumedAiTokens);
        return false;
      case 'park':
        this.#store(effect.records, effect.consumedAiTokens);
        this.#sleep(effect);
        return true;
      case 'hand_back':
        this.#store(effect.records, effect.consumedAiTokens);
        return true;
      case 'finish':
        this.#store(effect.records, effect.consumedAiTokens);
        this.#outcome = effect.outcome;
        return true;
    }
  }

  /** Parked: a signal it was not told of wakes it at once, else one that comes or the time. */
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

  #store(records: readonly NodeRecord[], consumedAiTokens: number): void {
    for (const record of records) {
      const name = nameOf(record.nodeId, record.iteration);
      this.#journal.push(record);
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
  }

  /** Another attempt of a loop: what happened inside does not count any more. */
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
    const { node, iteration, config } = effect;
    const name = nameOf(node.id, iteration);
    if (!this.#isNewAttempt(effect, memory)) this.#checkStart(effect, name);
    const script = config.script as unknown as Script;
    if (script.end === 'signal' && script.waitMs === 0 && !this.#asked.has(name)) {
      this.#asked.add(name);
      this.#unsent.push({ nodeId: node.id, iteration, payload: node.id });
    }
    const run = (): StepEvent => ({
      ...{ kind: 'node_ended', nodeId: node.id, iteration, attempt: effect.attempt },
      ...{ result: this.#play(effect, memory), atMs: this.#nowMs, jitter: this.#choice() },
    });
    memory.running.push({ name, run });
  }

  #play({ node, iteration, config, inputs, inputOrder, resumed }: Start, { state }: Memory) {
    if (resumed !== undefined) return playSignal(config, resumed.signal, resumed.waiting);
    const record = findSlot(state.root, node, iteration)?.record;
    const failures = record === undefined || record.status === 'skipped' ? 0 : (record.failures ?? 0);
    return playScript({ nodeId: node.id, config, inputs, inputOrder, nowMs: this.#nowMs }, failures);
  }

  /** A pure node in another attempt of a loop, which need not be stored yet. */
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

  /** Mostly one event, sometimes all that can be. */
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

  /** Somebody sends a signal. */
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

export function isEnded(record: NodeRecord): boolean {
  return record.status === 'success' || record.status === 'failed' || record.status === 'skipped';
}
