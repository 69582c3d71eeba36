import {
  type ClaimedExecution,
  type ExecutionStore,
  type JsonValue,
  type Lease,
  type NodeRecord,
  type Outcome,
  parseJson,
  type StartRequest,
  stringifyJson,
  type WriteInfo,
} from '@millrace/engine';
import type { Database } from '../db/database.ts';
import { DatabaseUnavailableError, isRetryable, sqlState } from '../db/errors.ts';
import { coalesce } from './coalesce.ts';
import {
  adoptExecutions,
  type ClaimedRow,
  claimExecutions,
  endWorkerLease,
  findLostLeases,
  inheritExecutions,
  insertWorker,
  renewWorkerLease,
} from './lease-statements.ts';
import { foldRecords } from './records.ts';
import {
  applyFencedWrites,
  cancelExecution,
  type FencedWrite,
  insertExecutions,
  readChunks,
  readWrittenStates,
  reserveExecutionIds,
  type StartRow,
  type WrittenState,
} from './statements.ts';

export interface PgStoreOptions {
  readonly leaseMs: number;
  readonly maxCrashedAttempts: number;
  readonly host: string;
  readonly pid: number;
  /**
   * Asked before a write is tried again while the database is away: once the worker's lease is over, trying is in
   * vain. Absent: always.
   */
  readonly isLeaseValid?: (workerId: string) => boolean;
  /** Told after every commit that others may wait for: node records stored, executions ended. */
  readonly onChanged?: (executionIds: readonly number[]) => void;
}

/** Rows of one statement at most, and bytes of JSON in it: PostgreSQL and this process hold it whole in memory. */
const MAX_BATCH_ITEMS = 500;
const MAX_BATCH_BYTES = 8 * 1024 * 1024;
const UNIQUE_VIOLATION = '23505';
/** Pauses between tries while the database is away, in milliseconds; the last one repeats. */
const PAUSES_MS = [20, 50, 100, 250, 500];

/** {@link ExecutionStore} on PostgreSQL. Concurrent writes of all executions share statements and commits. */
export class PgExecutionStore implements ExecutionStore {
  readonly #db: Database;
  readonly #options: PgStoreOptions;
  readonly #write: (write: FencedWrite) => Promise<boolean>;
  readonly #start: (row: PendingStart) => Promise<Started>;

  constructor(db: Database, options: PgStoreOptions) {
    this.#db = db;
    this.#options = options;
    this.#write = coalesce<FencedWrite, boolean>({
      run: (batch) => this.#writeAll(batch),
      maxItems: MAX_BATCH_ITEMS,
      maxWeight: MAX_BATCH_BYTES,
      weightOf: (write) => write.recordsJson?.length ?? 0,
      keyOf: (write) => write.executionId,
      isOneItemsFault: isStatementsFault,
    });
    this.#start = coalesce<PendingStart, Started>({
      run: (batch) => this.#startAll(batch),
      maxItems: MAX_BATCH_ITEMS,
      maxWeight: MAX_BATCH_BYTES,
      weightOf: ({ row }) => row.inputJson.length + (row.recordsJson?.length ?? 0),
      isOneItemsFault: isStatementsFault,
    });
  }

  async registerWorker(workerId: string): Promise<void> {
    const { host, pid, leaseMs } = this.#options;
    await insertWorker(this.#db, { id: workerId, host, pid, leaseMs });
  }

  async heartbeat(workerId: string): Promise<boolean> {
    return (await renewWorkerLease(this.#db, workerId, this.#options.leaseMs)).length > 0;
  }

  async retireWorker(workerId: string): Promise<void> {
    await endWorkerLease(this.#db, workerId);
  }

  async reserveIds(count: number): Promise<number[]> {
    return (await reserveExecutionIds(this.#db, count)).map((row) => row.id);
  }

  async start(requests: readonly StartRequest[]): Promise<(Lease | null)[]> {
    // One statement of their own: all or none.
    const rows = requests.map((request) => ({ row: toStartRow(request), keepTrying: always }));
    return (await this.#startAll(rows)).map(({ lease }) => lease);
  }

  /**
   * Stores one accepted start; concurrent calls share a statement. `stored` is false when the idempotency key of the
   * row was used already (or the id, which reserved ids never are).
   * @param keepTrying asked before every further try while the database is away
   * @throws DatabaseUnavailableError when it gave up; whether the start was stored is then unknown
   */
  startOne(row: StartRow, keepTrying: () => boolean): Promise<Started> {
    return this.#start({ row, keepTrying });
  }

  async claim(workerId: string, limit: number): Promise<ClaimedExecution[]> {
    const rows = await claimExecutions(this.#db, workerId, limit, this.#options.maxCrashedAttempts);
    this.#options.onChanged?.(rows.map((row) => row.id));
    return this.#load(
      workerId,
      rows.filter((row) => row.status === 'running'),
    );
  }

  /** Takes what is leased to the worker in the database although it is not among `heldIds`. */
  async adopt(workerId: string, heldIds: readonly number[]): Promise<ClaimedExecution[]> {
    return this.#load(workerId, await adoptExecutions(this.#db, workerId, heldIds));
  }

  /** Moves what lost registrations of this process still hold to its new one; no crash is counted. */
  async inherit(workerId: string, formerIds: readonly string[]): Promise<void> {
    await inheritExecutions(this.#db, workerId, formerIds);
  }

  /** Ids of the executions whose lease is not the row's any more: cancelled, taken over, ended, deleted. */
  async findLost(leases: readonly Lease[]): Promise<number[]> {
    if (leases.length === 0) return [];
    return (await findLostLeases(this.#db, leases)).map((row) => row.id);
  }

  checkpoint(lease: Lease, records: readonly NodeRecord[], info: WriteInfo = {}): Promise<boolean> {
    return this.#send(lease, records, { status: 'running', ...info });
  }

  park(
    lease: Lease,
    records: readonly NodeRecord[],
    wakeAtMs: number,
    info: WriteInfo = {},
  ): Promise<boolean> {
    return this.#send(lease, records, { status: 'waiting_async', wakeAtMs, ...info });
  }

  handBack(lease: Lease, records: readonly NodeRecord[], info: WriteInfo = {}): Promise<boolean> {
    return this.#send(lease, records, { status: 'queued', ...info });
  }

  finish(
    lease: Lease,
    records: readonly NodeRecord[],
    outcome: Outcome,
    info: WriteInfo = {},
  ): Promise<boolean> {
    if (outcome.status !== 'failed') return this.#send(lease, records, { status: outcome.status, ...info });
    const { code, message, nodeId } = outcome.error;
    const errorJson = stringifyJson({ code, message, node_id: nodeId });
    return this.#send(lease, records, { status: 'failed', errorJson, ...info });
  }

  async cancel(organisationId: number, executionId: number): Promise<boolean> {
    const rows = await cancelExecution(this.#db, organisationId, executionId);
    if (rows.length > 0) this.#options.onChanged?.([executionId]);
    return rows.length > 0;
  }

  #send(lease: Lease, records: readonly NodeRecord[], target: WriteTarget): Promise<boolean> {
    return this.#write({
      executionId: lease.executionId,
      workerId: lease.workerId,
      claim: lease.claim,
      status: target.status,
      recordsJson: records.length === 0 ? null : stringifyJson(records as unknown as JsonValue),
      errorJson: target.errorJson ?? null,
      wakeAtMs: target.wakeAtMs ?? null,
      consumedAiTokens: target.consumedAiTokens ?? null,
    });
  }

  /** Sends a batch until the outcome of each of its writes is known. */
  async #writeAll(batch: readonly FencedWrite[]): Promise<boolean[]> {
    const outcomes = new Map<FencedWrite, boolean>();
    // In one order, so that batches of two workers that meet in the same rows do not block each other.
    let open = batch.toSorted((a, b) => a.executionId - b.executionId);
    for (let failures = 0; open.length > 0; ) {
      try {
        if (failures > 0) {
          // A reply was lost before: what it said is read, and only what is certainly not stored is sent again.
          const states = await this.#readStates(open.map((write) => write.executionId));
          for (const write of open) {
            const verdict = judge(write, states.get(write.executionId));
            if (verdict !== 'open') outcomes.set(write, verdict === 'stored');
          }
          open = open.filter((write) => !outcomes.has(write));
          if (open.length === 0) break;
        }
        const changed = new Set((await applyFencedWrites(this.#db, open)).map((row) => row.id));
        // After a lost reply a write that changed nothing may have been stored by the earlier try: read once more.
        const settled = failures === 0 ? open : open.filter((write) => changed.has(write.executionId));
        for (const write of settled) outcomes.set(write, changed.has(write.executionId));
        open = open.filter((write) => !outcomes.has(write));
      } catch (error) {
        if (!isUnknownOutcome(error) || !batch.some(({ workerId }) => this.#mayKeepTrying(workerId)))
          throw error;
        await pause(failures);
        failures += 1;
      }
    }
    const stored = batch.filter((write) => outcomes.get(write) === true);
    this.#options.onChanged?.(stored.map((write) => write.executionId));
    return batch.map((write) => outcomes.get(write) === true);
  }

  /** Inserts a batch until it is known of each row whether it is stored. */
  async #startAll(batch: readonly PendingStart[]): Promise<Started[]> {
    const rows = batch.map(({ row }) => row);
    for (let failures = 0; ; failures += 1) {
      try {
        // After a lost reply it is read what is stored, and only what certainly is not is sent again.
        const known =
          failures === 0
            ? new Map<number, WrittenState>()
            : await this.#readStates(rows.map((row) => row.id));
        const missing = rows.filter((row) => !known.has(row.id));
        const inserted = missing.length === 0 ? [] : await insertExecutions(this.#db, missing);
        const stored = new Map([...known.values(), ...inserted].map((row) => [row.id, row]));
        return rows.map((row) => toStarted(row, stored.get(row.id)));
      } catch (error) {
        // The earlier try was stored between the reading and the insert: the next reading will show it.
        const hasRaced = failures > 0 && sqlState(error) === UNIQUE_VIOLATION;
        if (!hasRaced && !isUnknownOutcome(error)) throw error;
        if (!batch.some(({ keepTrying }) => keepTrying())) throw error;
        await pause(failures);
      }
    }
  }

  #mayKeepTrying(workerId: string): boolean {
    return this.#options.isLeaseValid?.(workerId) ?? true;
  }

  async #readStates(ids: readonly number[]): Promise<Map<number, WrittenState>> {
    return new Map((await readWrittenStates(this.#db, ids)).map((state) => [state.id, state]));
  }

  async #load(workerId: string, rows: readonly ClaimedRow[]): Promise<ClaimedExecution[]> {
    const withRecords = rows.filter((row) => row.checkpoint_seq > 0).map((row) => row.id);
    const rowsOfChunks = withRecords.length === 0 ? [] : await readChunks(this.#db, withRecords);
    const chunks = rowsOfChunks.map((chunk) => ({
      executionId: chunk.execution_id,
      records: parseJson(chunk.records) as unknown as NodeRecord[],
    }));
    const records = Map.groupBy(chunks, (chunk) => chunk.executionId);
    return rows
      .toSorted((a, b) => a.id - b.id)
      .map((row) => toClaimedExecution(workerId, row, foldRecords(records.get(row.id) ?? [])));
  }
}

interface WriteTarget extends WriteInfo {
  readonly status: FencedWrite['status'];
  readonly errorJson?: string;
  readonly wakeAtMs?: number;
}

export interface Started {
  readonly stored: boolean;
  /** Null: it waits in the queue. */
  readonly lease: Lease | null;
}

interface PendingStart {
  readonly row: StartRow;
  readonly keepTrying: () => boolean;
}

/** Tells from what is stored whether a write took effect whose reply was lost. `open`: not, and it may be sent again. */
function judge(write: FencedWrite, state: WrittenState | undefined): 'stored' | 'refused' | 'open' {
  if (state === undefined || state.claim !== write.claim) return 'refused';
  const isMine = state.status === 'running' && state.worker_id === write.workerId;
  if (write.status !== 'running')
    return isMine ? 'open' : state.status === write.status ? 'stored' : 'refused';
  if (!isMine) return 'refused';
  return state.last_records === write.recordsJson ? 'stored' : 'open';
}

function toStarted(row: StartRow, state: { worker_id: string | null; claim: number } | undefined): Started {
  const isLeased =
    state !== undefined && state.worker_id !== null && state.worker_id === row.leaseTo && state.claim === 1;
  return {
    stored: state !== undefined,
    lease: isLeased ? { executionId: row.id, workerId: state.worker_id as string, claim: state.claim } : null,
  };
}

function toStartRow(request: StartRequest): StartRow {
  return {
    id: request.executionId,
    organisationId: request.organisationId,
    workflowId: request.workflowId,
    workflowVersion: request.workflowVersion,
    triggerType: request.triggerType,
    displayName: request.displayName,
    isTestMode: request.isTestMode,
    inputJson: stringifyJson(request.input),
    timeoutMs: request.timeoutMs,
    createdAt: null,
    leaseTo: request.leaseTo,
    rerunOf: null,
    recordsJson: null,
    idempotency: null,
  };
}

function toClaimedExecution(
  workerId: string,
  row: ClaimedRow,
  records: readonly NodeRecord[],
): ClaimedExecution {
  const startedAtMs = row.started_at.getTime();
  return {
    lease: { executionId: row.id, workerId, claim: row.claim },
    organisationId: row.organisation_id,
    workflowId: row.workflow_id,
    workflowVersion: row.workflow_version,
    isTestMode: row.is_test_mode,
    input: parseJson(row.input),
    startedAtMs,
    deadlineAtMs: row.timeout_ms === null ? null : startedAtMs + row.timeout_ms,
    records,
  };
}

function isUnknownOutcome(error: unknown): boolean {
  return error instanceof DatabaseUnavailableError || isRetryable(error);
}

function isStatementsFault(error: unknown): boolean {
  return !isUnknownOutcome(error);
}

function always(): boolean {
  return true;
}

function pause(failures: number): Promise<void> {
  const pauseMs = PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)] ?? 0;
  return new Promise((resolve) => setTimeout(resolve, pauseMs));
}
