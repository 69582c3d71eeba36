import {
  begin,
  type Effect,
  type ExecutionInput,
  type ExecutionState,
  type NodeRecord,
  type NodeResult,
  type Plan,
  resume,
  type StepEvent,
  stepAll,
} from '../../src/index.ts';

export const START_MS = 1_000;

/** One execution driven by hand: a test says what happens and looks at the effects. */
export class Drive {
  readonly state: ExecutionState;
  /** Everything the engine asked for so far. */
  readonly effects: Effect[];
  nowMs = START_MS;

  constructor(
    plan: Plan,
    over: Partial<ExecutionInput> = {},
    records?: readonly NodeRecord[],
    nowMs = START_MS,
  ) {
    const input: ExecutionInput = {
      executionId: 7,
      triggerData: { name: 'Ada' },
      deadlineAtMs: null,
      limits: { maxOutputBytes: 10_000, inlineWaitMs: 5_000 },
      ...over,
    };
    this.nowMs = nowMs;
    const first = records === undefined ? begin(plan, input, nowMs) : resume(plan, input, records, nowMs);
    this.state = first.state;
    this.effects = [...first.effects];
  }

  /** The effects this leads to. */
  send(...events: readonly StepEvent[]): readonly Effect[] {
    const { effects } = stepAll(this.state, events);
    this.effects.push(...effects);
    return effects;
  }

  ended(nodeId: string, result: NodeResult, over: { attempt?: number; jitter?: number } = {}): StepEvent {
    const { attempt = this.lastAttempt(nodeId), jitter = 0.5 } = over;
    return { kind: 'node_ended', nodeId, attempt, result, atMs: this.nowMs, jitter };
  }

  end(
    nodeId: string,
    result: NodeResult,
    over: { attempt?: number; jitter?: number } = {},
  ): readonly Effect[] {
    return this.send(this.ended(nodeId, result, over));
  }

  time(atMs: number, jitter = 0.5): readonly Effect[] {
    this.nowMs = atMs;
    return this.send({ kind: 'time', atMs, jitter });
  }

  lastAttempt(nodeId: string): number {
    const start = this.effects.findLast(
      (effect) => effect.kind === 'start_node' && effect.node.id === nodeId,
    );
    return start?.kind === 'start_node' ? start.attempt : 0;
  }

  /** What was stored, latest record of each node. */
  stored(): ReadonlyMap<string, NodeRecord> {
    const records = this.effects.flatMap((effect) => ('records' in effect ? effect.records : []));
    return new Map(records.map((record) => [record.nodeId, record]));
  }
}

/** Effects in short: `start a`, `checkpoint t,a`, `wait 1500`, ... */
export function inShort(effects: readonly Effect[]): string[] {
  return effects.map(describe);
}

function describe(effect: Effect): string {
  switch (effect.kind) {
    case 'start_node':
      return `start ${effect.node.id}`;
    case 'abort_node':
      return `abort ${effect.nodeId} ${effect.reason}`;
    case 'wait_until':
      return `wait ${effect.atMs}`;
    case 'park':
      return `park ${effect.wakeAtMs}`;
    case 'finish':
      return `finish ${effect.outcome.status}`;
    case 'checkpoint':
    case 'hand_back':
      return `${effect.kind} ${effect.records.map((record) => `${record.nodeId}:${record.status}`).join(' ')}`;
  }
}
