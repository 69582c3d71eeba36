import type { Message } from '@millrace/messages';
import type { JsonObject } from '@millrace/values/json';
import type { Priority } from './claim-order.ts';
import type { OnLimit } from './concurrency.ts';
import { DEFAULT_HANDLE } from './node-result.ts';
import { NO_RETRY, type RetryPolicy } from './retry.ts';

/** What happens to the execution when a node fails for good. */
export const ON_ERROR = ['fail', 'continue', 'branch'] as const;
export type OnError = (typeof ON_ERROR)[number];

/** Types of nodes that other nodes may name as their `parentId`. */
export const LOOP_TYPES: ReadonlySet<string> = new Set(['core.for_each', 'core.repeat']);

/**
 * `flow_data`: React Flow's own shape. Members not listed here (measured, selected, style, ...) are kept and ignored. Only values that
 * passed {@link validateStructure} may be treated as a Flow.
 */
export type Flow = {
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
  readonly settings?: FlowSettings;
};

export type FlowNode = {
  readonly id: string;
  readonly type: string;
  readonly position?: { readonly x: number; readonly y: number };
  readonly parentId?: string | null;
  readonly data?: FlowNodeData;
};

export type FlowNodeData = {
  readonly label?: string;
  readonly config?: JsonObject;
  readonly retry?: {
    readonly max_attempts?: number;
    readonly backoff_ms?: number;
    readonly max_backoff_ms?: number;
  };
  readonly on_error?: OnError;
  readonly timeout_ms?: number;
};

export type FlowEdge = {
  readonly id?: string;
  readonly source: string;
  readonly target: string;
  readonly sourceHandle?: string | null;
  readonly targetHandle?: string | null;
};

export type FlowSettings = {
  /** Template of the executions' display name. */
  readonly display_name?: string;
  /** JSON Schema 2020-12 that the `input_data` of an API start must match. */
  readonly input_schema?: JsonObject;
  /** Seconds after its start at which an execution fails with `execution_timeout`. */
  readonly timeout_s?: number;
  /** Constants that templates read as `{{vars.<name>}}`. */
  readonly vars?: JsonObject;
  /** Maximum number of concurrent executions of the workflow; the others are queued. */
  readonly max_concurrency?: number;
  /** How many executions start in any period; further ones are held. */
  readonly rate?: { readonly limit: number; readonly per_seconds: number; readonly key?: string };
  /** A start waits for a newer one with the same key, which replaces it. */
  readonly debounce?: { readonly seconds: number; readonly max_seconds?: number; readonly key?: string };
  /** The workflow that is started, with the error as its input, when an execution fails. */
  readonly error_workflow_id?: number;
  /** Maximum number of concurrent executions with the same key, and what happens to further ones. */
  readonly concurrency?: { readonly limit: number; readonly key?: string; readonly on_limit?: OnLimit };
  /** Which executions of the organisation are claimed first. */
  readonly priority?: Priority;
  /** IANA name of the workflow's time zone. */
  readonly timezone?: string;
  /** AI tokens after which an execution fails with `token_budget_exceeded`. */
  readonly token_budget?: number;
  /** Templates, by name, of the values by which executions are found. */
  readonly search_keys?: { readonly [name: string]: string };
};

/** Why `flow_data` can't be saved. */
export type StructureError = {
  /** JSON Pointer, and the same path in dots. */
  readonly pointer: string;
  readonly field: string;
  readonly code: string;
  readonly message: Message;
};

/** Why a saved workflow can't be activated or executed. Its members are named as in the public API. */
export type Problem = {
  readonly pointer: string;
  /** Null when no single node is to blame. */
  readonly node_id: string | null;
  readonly code: string;
  readonly message: Message;
};

/** Pointer of `flow_data` in a request's body and in a workflow's detail. */
export const FLOW_POINTER = '/flow_data';

/** The handle an edge leaves from. */
export function handleOf(edge: FlowEdge): string {
  return edge.sourceHandle ?? DEFAULT_HANDLE;
}

/** The editor's name for a node: its label, else its id. */
export function labelOf(node: FlowNode): string {
  return node.data?.label ?? node.id;
}

/** A node's retry policy, with its type's values as defaults. */
export function retryPolicyOf(node: FlowNode, byType: RetryPolicy = NO_RETRY): RetryPolicy {
  const retry = node.data?.retry;
  if (retry === undefined) return byType;
  return {
    maxAttempts: retry.max_attempts ?? byType.maxAttempts,
    backoffMs: retry.backoff_ms ?? byType.backoffMs,
    maxBackoffMs: retry.max_backoff_ms ?? byType.maxBackoffMs,
  };
}
