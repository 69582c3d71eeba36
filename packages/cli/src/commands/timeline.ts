import type { ExecutionDetail, NodeOutput } from '@millrace/api/public/executions/schema';
import { paint } from './shell.ts';
import { type Column, card, moment, table } from './table.ts';

/** The contract's execution detail, as far as the timeline needs it. */
export type ShownExecution = Omit<
  ExecutionDetail,
  'consumed_ai_tokens' | 'parent' | 'children' | 'input_data' | 'node_outputs'
> & { readonly node_outputs: { readonly [nodeId: string]: ShownNode } };

/** The contract's node output record, likewise. */
export type ShownNode = Pick<NodeOutput, 'status'> & Partial<NodeOutput>;

const BAR_WIDTH = 32;

/**
 * An execution for people: its summary, and a bar per node that shows when it ran.
 * @param nowMs epoch milliseconds, where the bars of running nodes end
 */
export function showExecution(execution: ShownExecution, nowMs: number): string {
  const { error } = execution;
  const head = card([
    ['execution', `${execution.id}  ${execution.display_name}`],
    ['status', paintStatus(execution.status)],
    ['workflow', `${execution.workflow_id}, version ${execution.workflow_version}`],
    ['started by', execution.is_test_mode ? `${execution.trigger_type} (test mode)` : execution.trigger_type],
    ['accepted', moment(execution.created_at)],
    ['started', moment(execution.started_at)],
    ['ended', moment(execution.completed_at)],
    ['took', execution.duration_ms === null ? '-' : span(execution.duration_ms)],
  ]);
  const blame = error?.node_id ? ` (node ${error.node_id})` : '';
  const failure = error === undefined ? [] : [`${paint('red', error.code)}${blame}: ${error.message}`];
  return [head, ...failure, nodeTable(execution, nowMs)].join('\n\n');
}

interface NodeLine {
  readonly id: string;
  readonly node: ShownNode;
  readonly fromMs: number | null;
  readonly toMs: number | null;
}

function nodeTable(execution: ShownExecution, nowMs: number): string {
  const lines = Object.entries(execution.node_outputs)
    .map(([id, node]): NodeLine => toLine(id, node, nowMs))
    .toSorted((a, b) => (a.fromMs ?? Number.POSITIVE_INFINITY) - (b.fromMs ?? Number.POSITIVE_INFINITY));
  const started = lines.flatMap((line) => (line.fromMs === null ? [] : [line.fromMs]));
  const ended = lines.flatMap((line) => (line.toMs === null ? [] : [line.toMs]));
  const scale = { fromMs: Math.min(...started), toMs: Math.max(...ended) };
  const columns: Column<NodeLine>[] = [
    { title: 'NODE', cell: (line) => line.id },
    { title: 'STATUS', cell: (line) => paintStatus(line.node.status) },
    {
      title: 'TOOK',
      align: 'right',
      cell: ({ fromMs, toMs }) => (fromMs === null || toMs === null ? '-' : span(toMs - fromMs)),
    },
    { title: 'TIMELINE', cell: (line) => bar(line, scale) },
    { title: '', cell: remark },
  ];
  return table(lines, columns, 'No nodes have run.');
}

function toLine(id: string, node: ShownNode, nowMs: number): NodeLine {
  // A skipped node never started; its only time is when it was skipped.
  const fromMs = node.started_at == null || node.status === 'skipped' ? null : Date.parse(node.started_at);
  const toMs =
    fromMs === null
      ? null
      : node.completed_at == null
        ? Math.max(nowMs, fromMs)
        : Date.parse(node.completed_at);
  return { id, node, fromMs, toMs };
}

function bar({ fromMs, toMs, node }: NodeLine, scale: { fromMs: number; toMs: number }): string {
  if (fromMs === null || toMs === null) return paint('dim', '·'.repeat(BAR_WIDTH));
  const columnMs = Math.max(1, scale.toMs - scale.fromMs) / BAR_WIDTH;
  const first = Math.min(BAR_WIDTH - 1, Math.floor((fromMs - scale.fromMs) / columnMs));
  const length = Math.max(1, Math.min(BAR_WIDTH - first, Math.round((toMs - fromMs) / columnMs)));
  const before = paint('dim', '·'.repeat(first));
  const after = paint('dim', '·'.repeat(BAR_WIDTH - first - length));
  return before + paint(STATUS_PAINT[node.status] ?? 'dim', '█'.repeat(length)) + after;
}

function remark({ node }: NodeLine): string {
  const attempts = (node.attempts ?? 1) > 1 ? `${node.attempts} attempts` : '';
  const error = node.error === undefined ? '' : `${node.error.code}: ${node.error.message}`;
  return [attempts, error].filter((text) => text !== '').join(', ');
}

const STATUS_PAINT: Readonly<Record<string, 'green' | 'red' | 'yellow' | 'cyan'>> = {
  success: 'green',
  completed: 'green',
  failed: 'red',
  running: 'cyan',
  waiting: 'yellow',
  waiting_async: 'yellow',
  queued: 'yellow',
};

function paintStatus(status: string): string {
  return paint(STATUS_PAINT[status] ?? 'dim', status);
}

/** Milliseconds in the most readable unit. */
function span(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
