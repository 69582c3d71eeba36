import {
  begin,
  type Effect,
  type ExecutionInput,
  type ExecutionState,
  type NodeRecord,
  type Outcome,
  type Plan,
  resume,
  type StepEvent,
  stepAll,
} from '../../src/index.ts';
import { playScript } from './nodes.ts';

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
  readonly outcome: Outcome;
  readonly records: ReadonlyMap<string, NodeRecord>;
  readonly consumedAiTokens: number;
  /** How many effects were performed: the number of places to crash at. */
  readonly effects: number;
  /** Starts of each node, as the outside sees them. */
  readonly starts: ReadonlyMap<string, number>;
}

/** What a worker keeps in memory. */
interface Memory {
  readonly state: ExecutionState;
  readonly running: { nodeId: string; run: () => StepEvent }[];
  todo: Effect[];
  timerAtMs: number | null;
}

/**
 * One execution, its journal and its clock, without any concurrency of the host: performs the engine's effects as a
 * worker would and checks at each what must hold then (SPEC.md, E11, E12).
 */
export class World {
  readonly #plan: Plan;
  readonly #schedule: Schedule;
  readonly #journal: NodeRecord[] = [];
  readonly #starts = new Map<string, number>();
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
      if (lives > 200) throw new Error('the execution does not end');
      this.#live();
    }
    const records = new Map(this.#journal.map((record) => [record.nodeId, record]));
    const { outcome, consumedAiTokens } = {
      outcome: this.#outcome,
      consumedAiTokens: this.#consumedAiTokens,
    };
    return { outcome, records, consumedAiTokens, effects: this.#effects, starts: this.#starts };
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
      this.#journal.length === 0
        ? begin(this.#plan, input, this.#nowMs)
        : resume(this.#plan, input, this.#journal, this.#nowMs);
    const memory: Memory = { state, running: [], todo: [...effects], timerAtMs: null };
    for (let turns = 0; ; turns++) {
      if (turns > 2_000) throw new Error('the run does not end');
      for (const effect of memory.todo) {
        if (this.#schedule.crashesAt.has(this.#effects)) {
          this.#effects += 1;
          return;
        }
        this.#effects += 1;
        if (this.#perform(effect, memory)) return;
      }
      if (this.#cancel(memory)) return;
      memory.todo = [...stepAll(state, [this.#nextEvent(memory)]).effects];
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
      case 'abort_node':
        memory.running.splice(
          0,
          Infinity,
          ...memory.running.filter(({ nodeId }) => nodeId !== effect.nodeId),
        );
        return false;
      case 'wait_until':
        memory.timerAtMs = effect.atMs;
        return false;
      case 'checkpoint':
        this.#store(effect.records, effect.consumedAiTokens);
        return false;
      case 'park':
        this.#store(effect.records, effect.consumedAiTokens);
        if (effect.wakeAtMs <= this.#nowMs) throw new Error('parked until a time that has passed');
        this.#nowMs = effect.wakeAtMs;
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

  #store(records: readonly NodeRecord[], consumedAiTokens: number): void {
    for (const record of records) {
      const before = this.#stored(record.nodeId);
      if (before !== undefined && isEnded(before)) throw new Error(`${record.nodeId} was recorded twice`);
      this.#journal.push(record);
    }
    this.#consumedAiTokens = consumedAiTokens;
  }

  #start(effect: Extract<Effect, { kind: 'start_node' }>, memory: Memory): void {
    const { node, attempt, config, inputs } = effect;
    const stored = this.#stored(node.id);
    if (stored !== undefined && isEnded(stored))
      throw new Error(`${node.id} was run again after it had ended`);
    if (node.kind === 'effect') {
      const isAnnounced = stored?.status === 'running' && stored.attempts === attempt;
      if (!isAnnounced) throw new Error(`${node.id} was started without a checkpoint`);
      for (const edge of node.incoming) {
        const source = this.#stored(this.#plan.nodes[edge.source]?.id ?? '');
        if (source === undefined || !isEnded(source))
          throw new Error(`${node.id} depends on what is not stored`);
      }
    }
    this.#starts.set(node.id, (this.#starts.get(node.id) ?? 0) + 1);
    const record = memory.state.records[node.index];
    const failures = record === undefined || record.status === 'skipped' ? 0 : (record.failures ?? 0);
    const run = (): StepEvent => {
      const result = playScript({ nodeId: node.id, config, inputs, nowMs: this.#nowMs }, failures);
      return {
        kind: 'node_ended',
        nodeId: node.id,
        attempt,
        result,
        atMs: this.#nowMs,
        jitter: this.#choice(),
      };
    };
    memory.running.push({ nodeId: node.id, run });
  }

  #nextEvent(memory: Memory): StepEvent {
    const isTimeNear = memory.timerAtMs !== null && memory.timerAtMs - this.#nowMs < SOON_MS;
    const possible = memory.running.length + (isTimeNear ? 1 : 0);
    if (possible === 0) throw new Error('nothing runs, nothing is waited for, and yet it has not ended');
    const chosen = Math.floor(this.#choice() * possible);
    this.#events += 1;
    const [ended] = memory.running.splice(chosen, 1);
    if (ended !== undefined) return ended.run();
    this.#nowMs = Math.max(this.#nowMs, memory.timerAtMs ?? 0);
    memory.timerAtMs = null;
    return { kind: 'time', atMs: this.#nowMs, jitter: this.#choice() };
  }

  #stored(nodeId: string): NodeRecord | undefined {
    return this.#journal.findLast((record) => record.nodeId === nodeId);
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
