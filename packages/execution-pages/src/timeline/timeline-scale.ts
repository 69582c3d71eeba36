import type { ExecutionDetail, NodeSpan, NodeSummary } from '@millrace/admin-api';

/** One bar of a lane. */
export interface Bar {
  /** `iterations`: one or more of a loop, or of a node inside one. */
  readonly kind: NodeSpan['kind'] | 'iterations';
  readonly fromMs: number;
  readonly toMs: number;
  /** Still in progress. */
  readonly isOpen: boolean;
  /** Attempt number from 1; null for iterations. */
  readonly attempt: number | null;
  readonly error?: NodeSpan['error'];
  /** Number of iterations. */
  readonly count: number;
  readonly failed: number;
}

export interface Lane {
  readonly node: NodeSummary;
  readonly bars: readonly Bar[];
  /** Nesting depth in loops. */
  readonly depth: number;
}

export interface Scale {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The lanes of all nodes that have run; for a node inside a loop, all stored runs. Open bars get their end from {@link lanesAt}. */
export function lanesOf({ nodes }: ExecutionDetail, parents: ReadonlyMap<string, string>): Lane[] {
  return nodes.flatMap((node): Lane[] => {
    const bars = [...spansOf(node).map(toBar), ...iterationsOf(node)];
    return bars.length === 0 ? [] : [{ node, bars, depth: depthOf(node.node_id, parents) }];
  });
}

/** The lanes at another time; a lane without open bars keeps its identity. */
export function lanesAt(lanes: readonly Lane[], nowMs: number): Lane[] {
  return lanes.map((lane) =>
    lane.bars.some(({ isOpen }) => isOpen)
      ? {
          ...lane,
          bars: lane.bars.map((bar) => (bar.isOpen ? { ...bar, toMs: Math.max(bar.fromMs, nowMs) } : bar)),
        }
      : lane,
  );
}

function toBar(span: NodeSpan): Bar {
  const fromMs = Date.parse(span.started_at);
  return {
    kind: span.kind,
    attempt: span.attempt,
    fromMs,
    toMs: span.ended_at === null ? fromMs : Math.max(fromMs, Date.parse(span.ended_at)),
    isOpen: span.ended_at === null,
    count: 0,
    failed: 0,
    ...(span.error === undefined ? {} : { error: span.error }),
  };
}

/** The last run of a node inside a loop is one of its iterations, unless it is still running. */
function spansOf(node: NodeSummary): readonly NodeSpan[] {
  const { spans, started_at: startedAt, completed_at: endedAt } = node;
  if (spans.length > 0 || node.is_taken_over || startedAt === null) return spans;
  if (node.iteration_spans.length > 0 && endedAt !== null) return [];
  const error = node.status === 'failed' && node.error !== undefined ? { error: node.error } : {};
  return [
    { kind: 'run', attempt: Math.max(1, node.attempts), started_at: startedAt, ended_at: endedAt, ...error },
  ];
}

function iterationsOf(node: NodeSummary): Bar[] {
  return node.iteration_spans.map(({ started_at: from, ended_at: to, count, failed }) => ({
    kind: 'iterations',
    attempt: null,
    fromMs: Date.parse(from),
    toMs: Date.parse(to),
    isOpen: false,
    count,
    failed,
  }));
}

function depthOf(nodeId: string, parents: ReadonlyMap<string, string>): number {
  let depth = 0;
  for (let at = parents.get(nodeId); at !== undefined && depth < 100; at = parents.get(at)) depth += 1;
  return depth;
}

/** From the first start to the last end. */
export function scaleOf(lanes: readonly Pick<Lane, 'bars'>[]): Scale {
  let [fromMs, toMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { bars } of lanes) {
    for (const bar of bars) {
      fromMs = Math.min(fromMs, bar.fromMs);
      toMs = Math.max(toMs, bar.toMs);
    }
  }
  return { fromMs, toMs: Math.max(toMs, fromMs + 1) };
}

/** A node's duration, from its first start to its last end. */
export function lengthOf({ bars }: Lane): number {
  const { fromMs } = scaleOf([{ bars }]);
  return Math.max(0, ...bars.map(({ toMs }) => toMs - fromMs));
}

/** A bar's position in percent of the width; null if out of view. */
export function placeOf(
  { fromMs, toMs }: Bar,
  scale: Scale,
): { readonly left: number; readonly width: number } | null {
  if (toMs < scale.fromMs || fromMs > scale.toMs) return null;
  const whole = scale.toMs - scale.fromMs;
  const [from, to] = [Math.max(fromMs, scale.fromMs), Math.min(toMs, scale.toMs)];
  return { left: ((from - scale.fromMs) / whole) * 100, width: ((to - from) / whole) * 100 };
}

/** Times are in milliseconds, so a closer zoom shows nothing more. */
const MIN_WIDTH_MS = 5;

/** The range after zooming by a factor around a time; null if that is everything. */
export function zoom(shown: Scale, whole: Scale, factor: number, aroundMs: number): Scale | null {
  const width = Math.max(MIN_WIDTH_MS, (shown.toMs - shown.fromMs) * factor);
  if (width >= whole.toMs - whole.fromMs) return null;
  const share = (aroundMs - shown.fromMs) / (shown.toMs - shown.fromMs);
  return within({ fromMs: aroundMs - width * share, toMs: aroundMs + width * (1 - share) }, whole);
}

/** The same width, moved by a fraction of it. */
export function pan(shown: Scale, whole: Scale, share: number): Scale {
  const by = (shown.toMs - shown.fromMs) * share;
  return within({ fromMs: shown.fromMs + by, toMs: shown.toMs + by }, whole);
}

function within({ fromMs, toMs }: Scale, whole: Scale): Scale {
  const width = toMs - fromMs;
  const from = Math.max(whole.fromMs, Math.min(fromMs, whole.toMs - width));
  return { fromMs: from, toMs: from + width };
}

const DAY_MS = 86_400_000;
/** Milliseconds, seconds, minutes and hours that read well. */
const STEPS_MS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1_000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
  ...[1, 2, 3, 6, 12].map((hours) => hours * 3_600_000),
];

/** Round times since the overall start within view, with at most `most` steps between them. */
export function ticksOf({ fromMs, toMs }: Scale, zeroMs: number, most: number): number[] {
  const rough = (toMs - fromMs) / most;
  const step = STEPS_MS.find((each) => each >= rough) ?? Math.ceil(rough / DAY_MS) * DAY_MS;
  const ticks: number[] = [];
  for (let at = Math.ceil((fromMs - zeroMs) / step) * step; at <= toMs - zeroMs; at += step) ticks.push(at);
  return ticks;
}
