import { isFinalStatus, type JsonObject, type NodeRecord, type Plan } from '@millrace/engine';
import { WEBHOOK_RESPOND } from '@millrace/nodes';
import { parseChunks } from '@millrace/runtime/chunks';
import { type Watch, waitFor } from '@millrace/runtime/watch';
import type { ExecutionDetailRow } from '@millrace/service/executions/store';
import { readWebhookResponse, type WebhookResponse } from '@millrace/triggers';

/** What came first: the response of a node, or the end of the execution. Null: neither in time. */
export type Reached =
  | { readonly kind: 'response'; readonly response: WebhookResponse }
  | { readonly kind: 'ended'; readonly row: ExecutionDetailRow }
  | null;

/** Ids of the nodes that may answer. */
export function respondingNodes({ nodes }: Plan): ReadonlySet<string> {
  return new Set(nodes.filter(({ type }) => type === WEBHOOK_RESPOND).map(({ id }) => id));
}

/**
 * Waits for the first record of a node that answers, wherever it is stored: that is how the response gets from the worker to the
 * process that the caller is connected to, and why it survives both.
 * @param readChanges the execution with the records stored after a checkpoint
 */
export async function waitForResponse(
  watch: Watch,
  readChanges: (afterSeq: number) => Promise<ExecutionDetailRow | undefined>,
  nodeIds: ReadonlySet<string>,
  timeoutMs: number,
): Promise<Reached> {
  let seen = -1;
  const read = () => readChanges(seen);
  const find = (row: ExecutionDetailRow): NonNullable<Reached> | undefined => {
    seen = row.checkpoint_seq;
    const response = firstResponse(row, nodeIds);
    if (response !== null) return { kind: 'response', response };
    return isFinalStatus(row.status) ? { kind: 'ended', row } : undefined;
  };
  return await waitFor(watch, read, find, timeoutMs);
}

function firstResponse({ chunks }: ExecutionDetailRow, nodeIds: ReadonlySet<string>): WebhookResponse | null {
  // Most changes aren't about these nodes, and outputs may be large.
  if (chunks === null || ![...nodeIds].some((id) => chunks.includes(JSON.stringify(id)))) return null;
  const records = parseChunks(chunks).flatMap((chunk) => chunk.records);
  const found = records.find((record) => nodeIds.has(record.nodeId) && isAnswer(record));
  return found === undefined ? null : readWebhookResponse((found as { output: JsonObject }).output);
}

/** The record of an answer, not its copy in the summary of a loop. */
function isAnswer(record: NodeRecord): boolean {
  return record.status === 'success' && record.iterations === undefined;
}
