import {
  type ClaimedExecution,
  type Lease,
  type Outcome,
  parseJson,
  type StoredSignal,
  storeError,
  stringifyJson,
  type WriteInfo,
} from '@millrace/engine';
import type { ClaimedRow } from './lease-statements.ts';
import type { SignalRow } from './signal-statements.ts';
import type { StartRow } from './start-statements.ts';
import type { FencedWrite, WrittenState } from './statements.ts';

/** The state of an execution after a write. */
export interface WriteTarget extends WriteInfo {
  readonly status: FencedWrite['status'];
  readonly errorJson?: string;
  readonly wakeAtMs?: number | null;
}

export interface Started {
  readonly stored: boolean;
  /** Null if it waits in the queue. */
  readonly lease: Lease | null;
  /** Milliseconds until it would be accepted if its workflow's rate refused it; otherwise null. */
  readonly refusedForMs: number | null;
}

/** The fenced write of a lease. */
export function toFencedWrite(lease: Lease, recordsJson: string | null, target: WriteTarget): FencedWrite {
  return {
    executionId: lease.executionId,
    workerId: lease.workerId,
    claim: lease.claim,
    status: target.status,
    recordsJson,
    errorJson: target.errorJson ?? null,
    wakeAtMs: target.wakeAtMs ?? null,
    signalsSeen: target.signalsSeen ?? 0,
    consumedAiTokens: target.consumedAiTokens ?? null,
    storedBytes: target.storedBytes ?? null,
  };
}

/** Decides from stored state whether a write whose reply was lost took effect. `open`: it didn't, and may be sent again. */
export function judge(write: FencedWrite, state: WrittenState | undefined): 'stored' | 'refused' | 'open' {
  if (state === undefined || state.claim !== write.claim) return 'refused';
  const isMine = state.status === 'running' && state.worker_id === write.workerId;
  if (write.status !== 'running')
    return isMine ? 'open' : state.status === write.status ? 'stored' : 'refused';
  if (!isMine) return 'refused';
  return state.last_records === write.recordsJson ? 'stored' : 'open';
}

export function toStarted(
  row: StartRow,
  state: { worker_id: string | null; claim: number } | undefined,
  refusedForMs: number | null = null,
): Started {
  const isLeased =
    state !== undefined && state.worker_id !== null && state.worker_id === row.leaseTo && state.claim === 1;
  return {
    stored: state !== undefined,
    lease: isLeased ? { executionId: row.id, workerId: state.worker_id as string, claim: state.claim } : null,
    refusedForMs,
  };
}

/** The write that ends an execution. */
export function toTarget(outcome: Outcome): WriteTarget {
  if (outcome.status !== 'failed') return { status: outcome.status };
  return { status: 'failed', errorJson: stringifyJson(storeError(outcome.error)) };
}

/** A signal in the engine's form. */
export function toSignal({ seq, node_id: nodeId, iteration, payload }: SignalRow): StoredSignal {
  return { seq, nodeId, iteration, payload: parseJson(payload) };
}

/** A claimed row without the additional columns. */
export function toClaimed(workerId: string, row: ClaimedRow): Omit<ClaimedExecution, 'records' | 'signals'> {
  const startedAtMs = row.started_at.getTime();
  return {
    lease: { executionId: row.id, workerId, claim: row.claim },
    organisationId: row.organisation_id,
    workflowId: row.workflow_id,
    workflowVersion: row.workflow_version,
    isTestMode: row.is_test_mode,
    input: parseJson(row.input),
    inputBytes: row.input.length,
    storedBytes: row.stored_bytes,
    startedAtMs,
    traceparent: row.traceparent,
    startedAs: row.started_as,
    deadlineAtMs: row.timeout_ms === null ? null : startedAtMs + row.timeout_ms,
  };
}
