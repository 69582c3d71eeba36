import {
  type ChildKey,
  type ClaimedExecution,
  foldRecords,
  type JsonValue,
  type Lease,
  type NodeRecord,
  parseJson,
  type StoredSignal,
  stringifyJson,
  type WriteInfo,
} from '../../src/index.ts';
import type { StartRequest, StoredExecution } from './store-harness.ts';
import { type ExecutionEvent, transition } from './transitions.ts';

/** An execution in a {@link MemoryStore}. */
export type Row = {
  -readonly [Name in Exclude<keyof StoredExecution, 'records'>]: StoredExecution[Name];
} & {
  readonly request: StartRequest;
  /** JSON texts, as in a database: nothing is shared with the worker's memory. */
  readonly inputText: string;
  readonly chunks: string[];
  readonly signals: string[];
  signalsSeen: number;
  storedBytes: number;
  crashedAttempts: number;
  /** Its `skip` or `cancel_running` hasn't been decided. */
  isUndecided: boolean;
};

export function isLimited({ maxConcurrency, concurrency }: StartRequest): boolean {
  return maxConcurrency !== undefined || concurrency !== undefined;
}

export function haveSameKey(a: StartRequest, b: StartRequest): boolean {
  return a.workflowId === b.workflowId && (a.concurrency?.key ?? '') === (b.concurrency?.key ?? '');
}

export function appendTo(row: Row, records: readonly NodeRecord[], info: WriteInfo | undefined): void {
  if (records.length > 0) row.chunks.push(stringifyJson(records as JsonValue));
  row.consumedAiTokens = info?.consumedAiTokens ?? row.consumedAiTokens;
  row.storedBytes = info?.storedBytes ?? row.storedBytes;
}

export function keyOf({ executionId, nodeId, iteration, callKey }: ChildKey): string {
  return JSON.stringify([executionId, nodeId, iteration, callKey]);
}

export function signalsIn(row: Row | undefined): StoredSignal[] {
  return (row?.signals ?? []).map((text) => parseJson(text) as unknown as StoredSignal);
}

export function newRow(request: StartRequest): Row {
  return {
    request,
    inputText: stringifyJson(request.input),
    chunks: [],
    signals: [],
    signalsSeen: 0,
    status: 'queued',
    workerId: null,
    claim: 0,
    crashedAttempts: 0,
    isUndecided: (request.concurrency?.onLimit ?? 'queue') !== 'queue',
    error: null,
    cancellation: null,
    startedAtMs: null,
    completedAtMs: null,
    wakeAtMs: null,
    consumedAiTokens: 0,
    storedBytes: 0,
  };
}

export function move(row: Row, event: ExecutionEvent): void {
  const next = transition(row.status, event);
  if (next === null) throw new Error(`an execution that is ${row.status} cannot ${event}`);
  row.status = next;
}

export function recordsIn(chunks: readonly string[]): NodeRecord[] {
  return chunks.flatMap((chunk) => parseJson(chunk) as NodeRecord[]);
}

export function toClaimed(row: Row, lease: Lease): ClaimedExecution {
  const { organisationId, workflowId, workflowVersion, isTestMode, timeoutMs } = row.request;
  const startedAtMs = row.startedAtMs ?? 0;
  return {
    lease,
    organisationId,
    workflowId,
    workflowVersion,
    isTestMode,
    input: parseJson(row.inputText),
    startedAtMs,
    deadlineAtMs: timeoutMs === null ? null : startedAtMs + timeoutMs,
    records: foldRecords([{ records: recordsIn(row.chunks) }]),
    storedBytes: row.storedBytes,
    signals: signalsIn(row),
  };
}
