import {
  type AttemptResult,
  begin,
  type Effect,
  type ExecutionInput,
  type ExecutionState,
  type JsonValue,
  type NodeRecord,
  type Plan,
  resume,
  type StepEvent,
  type StoredSignal,
  stepAll,
} from '../../src/index.ts';

export const START_MS = 1_000;

/** One execution driven by hand: a test sends events and checks the effects. */
export class Drive {
  readonly state: ExecutionState;
  /** All effects so far. */
  readonly effects: Effect[];
  nowMs = START_MS;

  constructor(
    plan: Plan,
    over: Partial<ExecutionInput> = {},
    records?: readonly NodeRecord[],
    nowMs = START_MS,
    signals: readonly StoredSignal[] = [],
  ) {
    const input: ExecutionInput = {
      executionId: 7,
      triggerData: { name: 'Ada' },
      deadlineAtMs: null,
      limits: { maxOutputBytes: 10_000, maxExecutionBytes: 1_000_000_000, inlineWaitMs: 5_000 },
      ...over,
    };
    this.nowMs = nowMs;
    const first =
      records === undefined ? begin(plan, input, nowMs) : resume(plan, input, records, nowMs, signals);
    this.state = first.state;
    this.effects = [...first.effects];
  }

  /** Sends events and returns their effects. */
  send(...events: readonly StepEvent[]): readonly Effect[] {
    const { effects } = stepAll(this.state, events);
    this.effects.push(...effects);
    return effects;
  }

  /** `node` is a node's id, inside loops followed by its iteration: `a 3 0`. */
  ended(node: string, result: AttemptResult, over: { attempt?: number; jitter?: number } = {}): StepEvent {
    const { attempt = this.lastAttempt(node), jitter = 0.5 } = over;
    return { kind: 'node_ended', ...parsePlace(node), attempt, result, atMs: this.nowMs, jitter };
  }

  end(
    node: string,
    result: AttemptResult,
    over: { attempt?: number; jitter?: number } = {},
  ): readonly Effect[] {
    return this.send(this.ended(node, result, over));
  }

  signal(node: string, payload: JsonValue, seq: number): readonly Effect[] {
    return this.send({ kind: 'signal', ...parsePlace(node), payload, seq, atMs: this.nowMs, jitter: 0.5 });
  }

  time(atMs: number, jitter = 0.5): readonly Effect[] {
    this.nowMs = atMs;
    return this.send({ kind: 'time', atMs, jitter });
  }

  lastStart(node: string): Extract<Effect, { kind: 'start_node' }> | undefined {
    const start = this.effects.findLast(
      (effect) => effect.kind === 'start_node' && nameOf(effect.node.id, effect.iteration) === node,
    );
    return start?.kind === 'start_node' ? start : undefined;
  }

  lastAttempt(node: string): number {
    return this.lastStart(node)?.attempt ?? 0;
  }

  /** All stored records, in order. */
  journal(): readonly NodeRecord[] {
    return this.effects.flatMap((effect) => ('records' in effect ? effect.records : []));
  }

  /** How the execution ended, or the kind of the last effect. */
  outcome(): unknown {
    const last = this.effects.at(-1);
    return last?.kind === 'finish' ? last.outcome : last?.kind;
  }

  /** The latest stored record of each node, by id and iteration; ends of iterations are called `end loop 3`. */
  stored(): ReadonlyMap<string, NodeRecord> {
    return new Map(this.journal().map((record) => [recordName(record), record]));
  }
}

function parsePlace(node: string): { nodeId: string; iteration: readonly number[] } {
  const [nodeId = '', ...iteration] = node.split(' ');
  return { nodeId, iteration: iteration.map(Number) };
}

function nameOf(nodeId: string, iteration: readonly number[] = []): string {
  return [nodeId, ...iteration].join(' ');
}

function recordName({ nodeId, iteration, status }: NodeRecord): string {
  return `${status === 'iteration_ended' ? 'end ' : ''}${nameOf(nodeId, iteration)}`;
}

/** Effects in short: `start a`, `start b 3` (in iteration 3), `checkpoint t,a`, `wait 1500`, ... */
export function abbreviate(effects: readonly Effect[]): string[] {
  return effects.map(describe);
}

function describe(effect: Effect): string {
  switch (effect.kind) {
    case 'start_node':
      return `${effect.resumed === undefined ? 'start' : 'resume'} ${nameOf(effect.node.id, effect.iteration)}`;
    case 'abort_node':
      return `abort ${nameOf(effect.nodeId, effect.iteration)} ${effect.reason}`;
    case 'wait_until':
      return `wait ${effect.atMs}`;
    case 'park':
      return `park ${effect.wakeAtMs}`;
    case 'finish':
      return `finish ${effect.outcome.status}`;
    case 'checkpoint':
    case 'hand_back':
      return `${effect.kind} ${effect.records.map(shortRecord).join(' ')}`;
  }
}

function shortRecord(record: NodeRecord): string {
  const name = recordName(record).replaceAll(' ', '.');
  return record.status === 'iteration_ended' ? name : `${name}:${record.status}`;
}
