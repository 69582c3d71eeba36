import {
  describeError,
  describeExecutionError,
  type ExecutionStatus,
  formatTimestamp,
  isFinalStatus,
  isJsonObject,
  type JsonObject,
  type JsonText,
  type JsonValue,
  parseJson,
  readError,
  recordsToShow,
  type ShownRecord,
} from '@millrace/engine';
import { inEnglish } from '@millrace/messages/english';
import { readChunks } from '@millrace/runtime/chunks';
import { cancellationOf } from '@millrace/service/executions/cancellation-messages';
import type { ChildTokens, ExecutionDetailRow, ExecutionRow } from '@millrace/service/executions/store';
import type { ExecutionDetail, ExecutionItem, NodeOutput } from './schema.ts';

/** An execution in a list: the detail without `input_data` and `node_outputs`. */
export function presentItem(row: ExecutionRow): ExecutionItem {
  const { started_at: startedAt, completed_at: completedAt } = row;
  return {
    id: row.id,
    workflow_id: row.workflow_id,
    // The flow of a trial isn't a version that could be requested.
    workflow_version: Math.max(row.workflow_version, 0),
    status: row.status,
    display_name: row.display_name,
    trigger_type: row.trigger_type,
    created_at: formatTimestamp(row.created_at),
    started_at: startedAt === null ? null : formatTimestamp(startedAt),
    completed_at: completedAt === null ? null : formatTimestamp(completedAt),
    duration_ms:
      startedAt === null || completedAt === null ? null : completedAt.getTime() - startedAt.getTime(),
    consumed_ai_tokens: row.consumed_ai_tokens,
    is_test_mode: row.is_test_mode,
    parent: parentOf(row),
    ...(row.error === null ? {} : { error: describeExecutionError(readError(parseJson(row.error))) }),
    ...holdOf(row),
    ...cancellationMember(row),
  };
}

function holdOf({ held_by: reason, held_until: until }: ExecutionRow): Pick<ExecutionItem, 'hold'> {
  return reason === null || until === null ? {} : { hold: { reason, until: formatTimestamp(until) } };
}

function cancellationMember(row: ExecutionRow): Pick<ExecutionItem, 'cancellation'> {
  const cancellation = cancellationOf(row);
  if (cancellation === null) return {};
  const { code, execution_id, explanation } = cancellation;
  return { cancellation: { code, message: inEnglish(explanation), execution_id } };
}

function parentOf({
  parent_execution_id: id,
  parent_node_id: nodeId,
}: ExecutionRow): ExecutionItem['parent'] {
  return id === null || nodeId === null ? null : { execution_id: id, node_id: nodeId };
}

/** The execution detail of the contract with the members this service adds. */
export async function presentDetail(row: ExecutionDetailRow): Promise<ExecutionDetail> {
  const chunks = await readChunks(row.chunks);
  return {
    ...presentItem(row),
    children: row.children === null ? [] : parseJson(row.children),
    input_data: presentInput(parseJson(row.input)),
    node_outputs: presentNodes(recordsToShow(chunks), row, parseChildTokens(row.child_tokens)),
  };
}

/** `input_data` is an object; a webhook body that isn't one is shown as its `data`. */
function presentInput(input: JsonValue): JsonObject {
  return isJsonObject(input) ? input : { data: input };
}

function presentNodes(
  records: readonly ShownRecord[],
  execution: Pick<ExecutionRow, 'status' | 'completed_at'>,
  childTokens: ChildTokens,
): ExecutionDetail['node_outputs'] {
  // Without a prototype, any node id is an ordinary member.
  const outputs: ExecutionDetail['node_outputs'] = Object.create(null);
  for (const record of records) outputs[record.nodeId] = presentNode(record, execution, childTokens);
  return outputs;
}

/**
 * A node output record. A node that was running or waiting when its execution was cancelled or failed is shown as cancelled at that moment,
 * whether or not its worker could still store that.
 * @param childTokens of the executions that nodes started, including those that they didn't wait for
 */
export function presentNode(
  record: ShownRecord,
  execution: { readonly status: ExecutionStatus; readonly completed_at: Date | null },
  childTokens: ChildTokens = {},
): NodeOutput {
  const iterations = record.iterations === undefined ? {} : { iterations: record.iterations };
  if (record.status === 'skipped') {
    return {
      status: 'skipped',
      output: {},
      consumed_ai_tokens: 0,
      started_at: null,
      completed_at: time(record.completedAtMs),
      ...iterations,
    };
  }
  const base = {
    consumed_ai_tokens: consumedBy(record, childTokens),
    started_at: time(record.startedAtMs),
    ...(record.attempts > 1 ? { attempts: record.attempts } : {}),
    ...iterations,
  };
  switch (record.status) {
    case 'running':
    case 'waiting':
      if (isFinalStatus(execution.status)) {
        const endedAt = execution.completed_at === null ? null : formatTimestamp(execution.completed_at);
        return { status: 'cancelled', output: {}, ...base, completed_at: endedAt };
      }
      return {
        status: record.status,
        output: record.status === 'waiting' && record.reason === 'signal' ? record.output : {},
        ...base,
        completed_at: null,
        ...(record.status === 'waiting' ? presentWait(record) : {}),
      };
    case 'cancelled':
      return { status: 'cancelled', output: {}, ...base, completed_at: time(record.completedAtMs) };
    case 'success':
    case 'failed':
      return {
        status: record.status,
        output: record.output,
        ...base,
        completed_at: time(record.completedAtMs),
        ...(record.status === 'failed' ? { error: describeError(record.error) } : {}),
        ...(record.log === undefined ? {} : { log: record.log.map(({ level, text }) => ({ level, text })) }),
      };
  }
}

/** Reads the `child_tokens` column of a detail row. */
export function parseChildTokens(json: JsonText<ChildTokens> | null): ChildTokens {
  return json === null ? {} : parseJson(json);
}

/** The record has what was reported to the node; executions that it didn't wait for, or stopped waiting for, may have ended since. */
function consumedBy(
  { nodeId, iteration, consumedAiTokens, childAiTokens = 0 }: Exclude<ShownRecord, { status: 'skipped' }>,
  childTokens: ChildTokens,
): number {
  const isKnown = iteration === undefined && Object.hasOwn(childTokens, nodeId);
  const inAll = isKnown ? (childTokens[nodeId] ?? 0) : 0;
  return consumedAiTokens + Math.max(0, inAll - childAiTokens);
}

/** What a node waits for and until when; before another attempt, also the last one's error. */
function presentWait(
  record: Extract<ShownRecord, { status: 'waiting' }>,
): Pick<NodeOutput, 'error' | 'waiting'> {
  const until = record.wakeAtMs === null ? null : time(record.wakeAtMs);
  const waiting = { for: record.reason, until, ...(record.reason === 'host' ? { host: record.host } : {}) };
  return record.reason === 'retry' && record.error !== undefined
    ? { error: describeError(record.error), waiting }
    : { waiting };
}

function time(epochMs: number): string {
  return formatTimestamp(new Date(epochMs));
}
