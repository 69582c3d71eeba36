import type { ExecutionDetail, NodeSpan, NodeSummary } from '@millrace/admin-api';

/** What is drawn of a node for a while. */
export interface Bar {
  /** `iterations`: one or more of a loop, or of a node inside one. */
  readonly kind: NodeSpan['kind'] | 'iterations';
  readonly fromMs: number;
  readonly toMs: number;
  /** It lasts. */
  readonly isOpen: boolean;
  /** Counts the attempts from 1; null for iterations. */
  readonly attempt: number | null;
  readonly error?: NodeSpan['error'];
  /** Of iterations. */
  readonly count: number;
  readonly failed: number;
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

/** What is drawn of each node that has run; of a node inside a loop all runs that were kept. */
export function lanesOf(
  { nodes }: ExecutionDetail,
  parents: ReadonlyMap<string, string>,
  nowMs: number,
): Lane[] {
  return nodes.flatMap((node): Lane[] => {
    const bars = [...spansOf(node).map((span) => toBar(span, nowMs)), ...iterationsOf(node)];
    return bars.length === 0 ? [] : [{ node, bars, depth: depthOf(node.node_id, parents) }];
  });
}

/** The same lanes at another moment; one in which nothing lasts is the same object. */
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

function toBar(span: NodeSpan, nowMs: number): Bar {
  const fromMs = Date.parse(span.started_at);
  return {
    kind: span.kind,
    attempt: span.attempt,
    fromMs,
    toMs: Math.max(fromMs, span.ended_at === null ? nowMs : Date.parse(span.ended_at)),
    isOpen: span.ended_at === null,
    count: 0,
    failed: 0,
    ...(span.error === undefined ? {} : { error: span.error }),
  };
}

/** The last run of a node inside a loop is one of its iterations, but for one that has not ended. */
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

/** From the first beginning to the last end. */
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

/** How long a node was at it, from its first beginning to its last end. */
export function lengthOf({ bars }: Lane): number {
  const { fromMs } = scaleOf([{ bars }]);
  return Math.max(0, ...bars.map(({ toMs }) => toMs - fromMs));
}

/** Where a bar stands, in percent of the width; null when it is out of sight. */
export function placeOf(
  { fromMs, toMs }: Bar,
  scale: Scale,
): { readonly left: number; readonly width: number } | null {
  if (toMs < scale.fromMs || fromMs > scale.toMs) return null;
  const whole = scale.toMs - scale.fromMs;
  const [from, to] = [Math.max(fromMs, scale.fromMs), Math.min(toMs, scale.toMs)];
  return { left: ((from - scale.fromMs) / whole) * 100, width: ((to - from) / whole) * 100 };
}

/** There is nothing to see at a closer zoom: times are in milliseconds. */
const MIN_WIDTH_MS = 5;

/** The part that shows when it is zoomed by a factor around a moment; null when that is all. */
export function zoom(shown: Scale, whole: Scale, factor: number, aroundMs: number): Scale | null {
  const width = Math.max(MIN_WIDTH_MS, (shown.toMs - shown.fromMs) * factor);
  if (width >= whole.toMs - whole.fromMs) return null;
  const share = (aroundMs - shown.fromMs) / (shown.toMs - shown.fromMs);
  return within({ fromMs: aroundMs - width * share, toMs: aroundMs + width * (1 - share) }, whole);
}

/** The same width, moved by a share of it. */
export function pan(shown: Scale, whole: Scale, share: number): Scale {
  const by = (shown.toMs - shown.fromMs) * share;
  return within({ fromMs: shown.fromMs + by, toMs: shown.toMs + by }, whole);
}

function within({ fromMs, toMs }: Scale, whole: Scale): Scale {
  const width = toMs - fromMs;
  const from = Math.max(whole.fromMs, Math.min(fromMs, whole.toMs - width));
  return { fromMs: from, toMs: from + width };
}

const STEPS = [1, 2, 5];

/** Round times since the beginning of all, at most `most` of them, that are in sight. */
export function ticksOf({ fromMs, toMs }: Scale, zeroMs: number, most: number): number[] {
  const rough = (toMs - fromMs) / most;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = (STEPS.find((each) => each * power >= rough) ?? 10) * power;
  const ticks: number[] = [];
  for (let at = Math.ceil((fromMs - zeroMs) / step) * step; at <= toMs - zeroMs; at += step) ticks.push(at);
  return ticks;
}
