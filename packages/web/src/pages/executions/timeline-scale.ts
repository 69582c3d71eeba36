import type { ExecutionDetail, NodeSpan, NodeSummary } from '@millrace/admin-api';

export interface Bar {
  readonly span: NodeSpan;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Lane {
  readonly node: NodeSummary;
  readonly bars: readonly Bar[];
  /** How far inside of loops it stands. */
  readonly depth: number;
}

export interface Scale {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What is drawn of each node that has run; a node inside a loop is drawn with its last run. */
export function lanesOf(
  { nodes }: ExecutionDetail,
  parents: ReadonlyMap<string, string>,
  nowMs: number,
): Lane[] {
  const lanes = nodes.flatMap((node): Lane[] => {
    const bars = spansOf(node).map((span) => {
      const fromMs = Date.parse(span.started_at);
      return {
        span,
        fromMs,
        toMs: Math.max(fromMs, span.ended_at === null ? nowMs : Date.parse(span.ended_at)),
      };
    });
    return bars.length === 0 ? [] : [{ node, bars, depth: depthOf(node.node_id, parents) }];
  });
  return lanes;
}

function spansOf(node: NodeSummary): readonly NodeSpan[] {
  if (node.spans.length > 0 || node.is_taken_over || node.started_at === null) return node.spans;
  return [
    {
      kind: 'run',
      attempt: Math.max(1, node.attempts),
      started_at: node.started_at,
      ended_at: node.completed_at,
    },
  ];
}

function depthOf(nodeId: string, parents: ReadonlyMap<string, string>): number {
  let depth = 0;
  for (let at = parents.get(nodeId); at !== undefined && depth < 100; at = parents.get(at)) depth += 1;
  return depth;
}

export function scaleOf(lanes: readonly Lane[]): Scale {
  let [fromMs, toMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { bars } of lanes) {
    for (const bar of bars) {
      fromMs = Math.min(fromMs, bar.fromMs);
      toMs = Math.max(toMs, bar.toMs);
    }
  }
  return { fromMs, toMs: Math.max(toMs, fromMs + 1) };
}

/** Where a bar stands, in percent of the width. */
export function placeOf(
  { fromMs, toMs }: Bar,
  scale: Scale,
): { readonly left: number; readonly width: number } {
  const whole = scale.toMs - scale.fromMs;
  return { left: ((fromMs - scale.fromMs) / whole) * 100, width: ((toMs - fromMs) / whole) * 100 };
}

const STEPS = [1, 2, 5];

/** Round times since the beginning, at most `most` of them. */
export function ticksOf({ fromMs, toMs }: Scale, most: number): number[] {
  const whole = toMs - fromMs;
  const rough = whole / most;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = (STEPS.find((each) => each * power >= rough) ?? 10) * power;
  const ticks: number[] = [];
  for (let at = 0; at <= whole; at += step) ticks.push(at);
  return ticks;
}
