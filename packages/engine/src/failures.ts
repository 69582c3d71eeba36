import { type Message, message, readMessage } from '@millrace/messages';
import { inEnglish } from '@millrace/messages/english';
import type { ExecutionError, NodeError } from './execution.ts';

/** The complete explanation of a failure: the message, and where inside a loop it happened. */
export function explainFailure(error: Pick<NodeError, 'message' | 'origin'>): Message {
  const { origin } = error;
  const explanation = readMessage(error.message);
  if (origin === undefined) return explanation;
  const { iteration, label } = origin;
  return message('run.in_iteration', { iteration: iteration.join('.'), node: label, failure: explanation });
}

/** An error as exposed to templates, other workflows and programs. */
export function describeError(error: NodeError): { readonly code: string; readonly message: string } {
  return { code: error.code, message: inEnglish(explainFailure(error)) };
}

/** {@link describeError} with the node to blame. */
export function describeExecutionError(error: ExecutionError): {
  readonly code: string;
  readonly message: string;
  readonly node_id: string | null;
} {
  return { ...describeError(error), node_id: error.nodeId };
}

/** An execution's error as stored. */
export type StoredError = {
  readonly code: string;
  /** Earlier versions stored an English sentence, or none. */
  readonly message?: Message | string;
  readonly node_id?: string | null;
  /** For a loop: the iteration in which something failed, and the failed node. */
  readonly iteration?: readonly number[];
  readonly inner_node?: { readonly id: string; readonly label: string };
};

/** Converts an execution's error to its stored form. */
export function storeError({ code, message: explanation, nodeId, origin }: ExecutionError): StoredError {
  const stored = { code, message: explanation, node_id: nodeId };
  if (origin === undefined) return stored;
  const { iteration, nodeId: id, label } = origin;
  return { ...stored, iteration, inner_node: { id, label } };
}

/** Reads {@link storeError}. */
export function readError(stored: StoredError): ExecutionError {
  const { code, message: explanation, node_id: nodeId = null, iteration, inner_node: inner } = stored;
  const error = { code, message: readMessage(explanation), nodeId };
  if (iteration === undefined || inner === undefined) return error;
  return { ...error, origin: { iteration, nodeId: inner.id, label: inner.label } };
}
