import type {
  ExecutionItem,
  ExecutionOrigin,
  IterationSpan,
  NodeComparison,
  NodeIteration,
  NodeRunDetail,
  NodeSummary,
} from '@millrace/admin-api';
import {
  canonicalWork,
  describeError,
  formatTimestamp,
  isJsonObject,
  type JsonObject,
  type JsonText,
  type JsonValue,
  Meter,
  parseJson,
  type ShownRecord,
  stringifyWork,
} from '@millrace/engine';
import { presentMessage } from '@millrace/messages/english';
import { finishInTurns } from '@millrace/runtime/turns';
import type { PlacedRecord } from '@millrace/service/executions/admin-iterations';
import {
  type EndedIteration,
  type Journal,
  mergeIterations,
  type NodeHistory,
  type Span,
} from '@millrace/service/executions/admin-journal';
import type { AdminDetailRow, AdminExecutionRow } from '@millrace/service/executions/admin-store';
import { type Cancellation, cancellationOf } from '@millrace/service/executions/cancellation-messages';
import type { ChildTokens } from '@millrace/service/executions/store';
import { parseChildTokens, presentItem, presentNode } from '../../public/executions/present.ts';
import type { NodeOutput } from '../../public/executions/schema.ts';
import { presentKeyOf } from '../api-keys/present.ts';
import { presentError, presentExecutionError } from './present-error.ts';

export function presentAdminItem(row: AdminExecutionRow): ExecutionItem {
  const { error: _, cancellation: __, ...item } = presentItem(row);
  const cancellation = cancellationOf(row);
  return {
    ...item,
    // The public API shows every trial as 0.
    workflow_version: row.workflow_version,
    workflow_name: row.workflow_name,
    rerun_of: row.rerun_of,
    ...(row.error === null ? {} : { error: presentExecutionError(row.error) }),
    ...(cancellation === null ? {} : { cancellation: presentCancellation(cancellation) }),
  };
}

function presentCancellation({ code, execution_id, explanation }: Cancellation) {
  return { code, execution_id, ...presentMessage(explanation) };
}

/** The key that started an execution, and its address. */
export function presentOrigin(row: AdminDetailRow): ExecutionOrigin {
  return { api_key: presentKeyOf(row), source_ip: row.source_ip };
}

/** The state of each node, without potentially large values. */
export async function presentNodes(journal: Journal, execution: AdminDetailRow): Promise<NodeSummary[]> {
  const childTokens = parseChildTokens(execution.child_tokens);
  const nodes: NodeSummary[] = [];
  for (const [nodeId, history] of journal.nodes) {
    const { latest, loopId, spans, ended } = history;
    const node = presentNode(latest, execution, childTokens);
    const counted = journal.iterations.get(latest.loopId ?? nodeId);
    const iterations = latest.iterations ?? counted;
    const isTakenOver = wasTakenOver(history, execution);
    nodes.push({
      node_id: nodeId,
      ...progressOf(node, latest),
      ...(iterations === undefined ? {} : { iterations }),
      loop_id: loopId,
      output_size: await sizeOf(node.output),
      is_dry_run: node.output.dry_run === true,
      log_lines: node.log?.length ?? 0,
      is_taken_over: isTakenOver,
      spans: isTakenOver ? [] : spans.map((span) => presentSpan(span, execution)),
      iteration_spans: isTakenOver ? [] : mergeIterations(ended, MAX_ITERATION_SPANS).map(presentEnded),
    });
  }
  return nodes;
}

/** Characters of an output's JSON text; a large one is written in turns. */
async function sizeOf(output: JsonObject): Promise<number> {
  return (await finishInTurns(stringifyWork(output, new Meter()))).length;
}

/** A chart has hardly more pixels than this. */
const MAX_ITERATION_SPANS = 200;

function presentEnded({ startedAtMs, completedAtMs, count, failed }: EndedIteration): IterationSpan {
  return { started_at: time(startedAtMs), ended_at: time(completedAtMs), count, failed };
}

/** A rerun starts with copies of the records it keeps, including their times. */
function wasTakenOver(
  { latest }: NodeHistory,
  { rerun_of: rerunOf, created_at: createdAt }: AdminExecutionRow,
): boolean {
  if (rerunOf === null || latest.status === 'running' || latest.status === 'waiting') return false;
  return latest.completedAtMs < createdAt.getTime();
}

function progressOf(node: NodeOutput, record: PlacedRecord) {
  const isSkipped = record.status === 'skipped';
  const startedAt = isSkipped ? null : node.started_at;
  return {
    status: node.status,
    started_at: startedAt,
    completed_at: node.completed_at,
    duration_ms: durationOf(startedAt, node.completed_at),
    attempts: isSkipped ? 0 : (node.attempts ?? 1),
    consumed_ai_tokens: node.consumed_ai_tokens,
    ...(node.error === undefined || !('error' in record) || record.error === undefined
      ? {}
      : { error: presentError(record.error) }),
    ...(node.waiting === undefined ? {} : { waiting: node.waiting }),
  };
}

function durationOf(startedAt: string | null, completedAt: string | null): number | null {
  if (startedAt === null || completedAt === null) return null;
  return Math.max(0, Date.parse(completedAt) - Date.parse(startedAt));
}

/** What was still running when its execution ended, ended with it. */
function presentSpan({ kind, attempt, startedAtMs, endedAtMs, error }: Span, execution: AdminExecutionRow) {
  const endMs = endedAtMs ?? execution.completed_at?.getTime() ?? null;
  return {
    kind,
    attempt,
    started_at: time(startedAtMs),
    ended_at: endMs === null ? null : time(Math.max(endMs, startedAtMs)),
    ...(error === undefined ? {} : { error: presentError(error) }),
  };
}

/** A node's run in one iteration, or one iteration of a loop. */
export function presentIteration(record: PlacedRecord, execution: AdminExecutionRow): NodeIteration {
  // What an iteration waits for is shown with its run.
  const { waiting, ...progress } = progressOf(toPlain(record, execution), record);
  return { iteration: [...(record.iteration ?? [])], ...progress };
}

export function presentRun(record: PlacedRecord, execution: AdminDetailRow): NodeRunDetail {
  const node = toPlain(record, execution, parseChildTokens(execution.child_tokens));
  return {
    node_id: record.nodeId,
    iteration: record.iteration === undefined ? null : [...record.iteration],
    ...progressOf(node, record),
    output: node.output,
    ...(record.status === 'iteration_ended' && record.error === undefined ? { result: record.output } : {}),
    log: [...(node.log ?? [])],
  };
}

/** The end of an iteration in the form of a node's end. */
function toPlain(record: PlacedRecord, execution: AdminExecutionRow, childTokens?: ChildTokens): NodeOutput {
  if (record.status !== 'iteration_ended') return presentNode(record, execution, childTokens);
  const { output, error, startedAtMs, completedAtMs, consumedAiTokens } = record;
  return {
    status: error === undefined ? 'success' : 'failed',
    output: isJsonObject(output) ? output : { result: output },
    started_at: time(startedAtMs),
    completed_at: time(completedAtMs),
    consumed_ai_tokens: consumedAiTokens,
    ...(error === undefined ? {} : { error: describeError(error) }),
  };
}

/** One execution and the stored records of its nodes. */
export interface Side {
  readonly row: AdminDetailRow;
  readonly journal: Journal;
}

/** Two executions node by node, ordered by start. */
export async function presentComparison(a: Side, b: Side): Promise<NodeComparison[]> {
  const ids = new Set([...a.journal.nodes.keys(), ...b.journal.nodes.keys()]);
  const nodes: NodeComparison[] = [];
  for (const nodeId of ids) {
    const [ofA, ofB] = [a, b].map(({ row, journal }) => {
      const latest = journal.nodes.get(nodeId)?.latest;
      const childTokens = parseChildTokens(row.child_tokens);
      return latest === undefined ? null : { latest, node: presentNode(latest, row, childTokens) };
    });
    nodes.push({
      node_id: nodeId,
      a: ofA == null ? null : await presentCompared(ofA.node, ofA.latest),
      b: ofB == null ? null : await presentCompared(ofB.node, ofB.latest),
      is_same_output: ofA != null && ofB != null && (await areSame(ofA.node.output, ofB.node.output)),
    });
  }
  return nodes;
}

/** Whether two values are equivalent; large ones are compared in turns. */
export async function areSame(one: JsonValue, other: JsonValue): Promise<boolean> {
  const canonical = (value: JsonValue) => finishInTurns(canonicalWork(value, new Meter()));
  return (await canonical(one)) === (await canonical(other));
}

async function presentCompared(node: NodeOutput, record: ShownRecord) {
  const { status, duration_ms, attempts, consumed_ai_tokens, error } = progressOf(node, record);
  return {
    status,
    duration_ms,
    attempts,
    consumed_ai_tokens,
    output_size: await sizeOf(node.output),
    ...(error === undefined ? {} : { error }),
  };
}

/** Reads a JSON column in which null means an empty list. */
export function parseList<Item extends JsonValue>(json: JsonText<Item[]> | null): Item[] {
  return json === null ? [] : parseJson(json);
}

function time(epochMs: number): string {
  return formatTimestamp(new Date(epochMs));
}
