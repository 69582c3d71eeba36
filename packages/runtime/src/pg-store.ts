import type { Database } from '@millrace/database/database';
import {
  type ClaimedExecution,
  type ExecutionStore,
  foldRecords,
  type Lease,
  Meter,
  type NodeRecord,
  type OrganisationShare,
  type Outcome,
  parseWork,
  type SlotShares,
  type StoredSignal,
  stringifyWork,
  type WriteInfo,
} from '@millrace/engine';
import { Claims } from './claims.ts';
import { decideAllStarts } from './concurrency.ts';
import { createConfirmedWrites, LARGE_BYTES } from './confirmed-writes.ts';
import type { ClaimRoom } from './data-budget.ts';
import { driveUnlimited } from './drive.ts';
import { createFollowUps } from './follow-ups.ts';
import {
  adoptExecutions,
  type ClaimedRow,
  countLiveWorkers,
  endWorkerLease,
  findLostLeases,
  inheritExecutions,
  insertWorker,
  listLeased,
  renewWorkerLease,
  uncountCrashes,
} from './lease-statements.ts';
import { Meters } from './meters/meters.ts';
import { ROOM_FOR_ALL } from './room-statements.ts';
import { listOwnShares } from './share-statements.ts';
import { findSignalled, listSignals, listSignalsOf } from './signal-statements.ts';
import { readChunks, type StoredChunk } from './statements.ts';
import { toClaimed, toFencedWrite, toSignal, toTarget, type WriteTarget } from './store-rows.ts';
import type { Tracer } from './tracing/tracer.ts';

export interface PgStoreOptions {
  readonly leaseMs: number;
  readonly maxCrashedAttempts: number;
  /** Checked before a write is retried while the database is unavailable: pointless once the worker's lease has expired. */
  readonly isLeaseValid: (workerId: string) => boolean;
  /** Called after every commit that others may be waiting for: node records stored, executions ended. */
  readonly onChanged: (executionIds: readonly number[]) => void;
  /** Called when an execution may have failed whose workflow has an error workflow. */
  readonly onFailure: () => void;
  /** What this process counts; if absent, nobody reads it. */
  readonly meters?: Meters;
  /** Absent or null if no spans are recorded. */
  readonly tracer?: Tracer | null;
}

/** {@link ExecutionStore} on PostgreSQL. Concurrent writes of all executions share statements and commits. */
export class PgExecutionStore implements ExecutionStore {
  readonly #db: Database;
  readonly #options: PgStoreOptions;
  readonly #claims: Claims;
  readonly #write: ReturnType<typeof createConfirmedWrites>;
  readonly #settle: () => Promise<void>;
  /** Executions whose end was stored and left follow-up work for other executions. */
  readonly #unsettled = new Set<number>();

  constructor(db: Database, options: PgStoreOptions) {
    this.#db = db;
    this.#options = options;
    this.#claims = new Claims(db, {
      maxCrashedAttempts: options.maxCrashedAttempts,
      meters: options.meters ?? new Meters(),
      tracer: options.tracer ?? null,
    });
    this.#settle = createFollowUps(db);
    this.#write = createConfirmedWrites(db, {
      isLeaseValid: options.isLeaseValid,
      onStored: options.onChanged,
      onFollowUps: (executionId) => void this.#unsettled.add(executionId),
    });
  }

  async registerWorker(workerId: string): Promise<void> {
    await insertWorker(this.#db, workerId, this.#options.leaseMs);
  }

  async heartbeat(workerId: string): Promise<boolean> {
    return (await renewWorkerLease(this.#db, workerId, this.#options.leaseMs)).length > 0;
  }

  async retireWorker(workerId: string): Promise<void> {
    await endWorkerLease(this.#db, workerId);
  }

  /** Decides starts that may be skipped or cancel older executions, including those that arrive meanwhile. */
  async decideStarts(): Promise<void> {
    const changed = await decideAllStarts(this.#db);
    if (changed.length === 0) return;
    this.#options.onChanged(changed);
    await this.#settleEnds();
  }

  /** The organisations with a share of the slots other than the default. */
  readOwnShares(): Promise<Map<number, OrganisationShare>> {
    return listOwnShares(this.#db);
  }

  /** The workers with a valid lease. */
  countWorkers(): Promise<number> {
    return countLiveWorkers(this.#db);
  }

  async claim(
    workerId: string,
    limit: number,
    shares?: SlotShares,
    room: ClaimRoom = ROOM_FOR_ALL,
  ): Promise<ClaimedExecution[]> {
    const slots = shares ?? { free: limit, held: new Map(), largestPercent: 100 };
    const work = await this.#claims.findWork();
    if (work.has_undecided) await this.decideStarts();
    // What has just been decided may be claimed, too.
    const hasLimited = work.has_limited || work.has_undecided;
    const hasUnlimited = work.has_claimable || work.has_undecided || work.has_follow_ups;
    if (work.has_follow_ups) await this.#settle();
    if (work.has_failures) this.#options.onFailure();
    const rows = await this.#claims.claim({ workerId, limit, room }, slots, { hasLimited, hasUnlimited });
    this.#options.onChanged(rows.map((row) => row.id));
    const running = rows.filter(({ status }) => status === 'running');
    if (running.length < rows.length) await this.#settleEnds();
    return this.#load(workerId, running);
  }

  /** Milliseconds after the last claim at which a held start may be released; null if none was held. */
  get nextHeldMs(): number | null {
    return this.#claims.nextHeldMs;
  }

  /** Milliseconds after the last claim in which there will be nothing to claim unless a notification says so. */
  get quietMs(): number {
    return this.#claims.quietMs;
  }

  /**
   * Adopts what the database has leased to the worker without its knowledge.
   * @param isKnown called after the database was read: a start that it saw had been reserved here before
   */
  async adopt(workerId: string, isKnown: (executionId: number) => boolean): Promise<ClaimedExecution[]> {
    const ids = (await listLeased(this.#db, workerId)).filter((id) => !isKnown(id));
    return ids.length === 0 ? [] : this.#load(workerId, await adoptExecutions(this.#db, workerId, ids));
  }

  /**
   * Moves what this process's lost registrations still lease to its new one; no crash is counted. Those that stalled the process are
   * left for a claim, which counts one.
   */
  async inherit(
    workerId: string,
    formerIds: readonly string[],
    suspects: readonly number[] = [],
  ): Promise<void> {
    await inheritExecutions(this.#db, workerId, formerIds, suspects);
  }

  /** Undoes the crashes that other workers counted when they took executions over from this live process. */
  async uncountCrashes(workerId: string, leases: readonly Lease[]): Promise<void> {
    if (leases.length > 0) await uncountCrashes(this.#db, workerId, leases);
  }

  /** Ids of the executions whose lease is no longer the row's: cancelled, taken over, ended, deleted. */
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
    wakeAtMs: number | null,
    info: WriteInfo = {},
  ): Promise<boolean> {
    return this.#send(lease, records, { status: 'waiting_async', wakeAtMs, ...info });
  }

  handBack(lease: Lease, records: readonly NodeRecord[], info: WriteInfo = {}): Promise<boolean> {
    return this.#send(lease, records, { status: 'queued', ...info });
  }

  async finish(
    lease: Lease,
    records: readonly NodeRecord[],
    outcome: Outcome,
    info: WriteInfo = {},
  ): Promise<boolean> {
    const isStored = await this.#send(lease, records, { ...toTarget(outcome), ...info });
    if (this.#unsettled.delete(lease.executionId)) await this.#settleEnds();
    return isStored;
  }

  async readSignals(executionId: number, afterSeq: number): Promise<StoredSignal[]> {
    return (await listSignals(this.#db, executionId, afterSeq)).map(toSignal);
  }

  /** Ids of the executions that were sent more signals than their runs have seen. */
  async findSignalled(
    seen: readonly { readonly executionId: number; readonly seq: number }[],
  ): Promise<number[]> {
    return seen.length === 0 ? [] : (await findSignalled(this.#db, seen)).map((row) => row.id);
  }

  /** The ends are stored: if their follow-ups can't be done now, the next claiming round does them. */
  async #settleEnds(): Promise<void> {
    this.#options.onFailure();
    await this.#settle().catch(() => {});
  }

  #send(lease: Lease, records: readonly NodeRecord[], target: WriteTarget): Promise<boolean> {
    const text = textOfRecords(lease, records);
    return text instanceof Promise
      ? text.then((each) => this.#write(toFencedWrite(lease, each, target)))
      : this.#write(toFencedWrite(lease, text, target));
  }

  /** Large executions are read one after the other, on separate connections. */
  async #readChunks(rows: readonly ClaimedRow[]): Promise<StoredChunk[]> {
    const stored = rows.filter((row) => row.checkpoint_seq > 0);
    const small = stored.filter((row) => row.stored_bytes < LARGE_BYTES).map((row) => row.id);
    const chunks = small.length === 0 ? [] : await readChunks(this.#db, small);
    for (const { id, stored_bytes: bytes } of stored) {
      if (bytes >= LARGE_BYTES) chunks.push(...(await readChunks(this.#db.large, [id])));
    }
    return chunks;
  }

  async #load(workerId: string, rows: readonly ClaimedRow[]): Promise<ClaimedExecution[]> {
    const chunks: { executionId: number; records: NodeRecord[] }[] = [];
    for (const { execution_id: executionId, records: text } of await this.#readChunks(rows)) {
      const parsed = await driveUnlimited(parseWork(text, new Meter()), { executionId, nodeId: null });
      chunks.push({ executionId, records: parsed });
    }
    const records = Map.groupBy(chunks, (chunk) => chunk.executionId);
    const signalled = rows.filter((row) => row.signal_seq > 0).map((row) => row.id);
    const signalRows = signalled.length === 0 ? [] : await listSignalsOf(this.#db, signalled);
    const signals = Map.groupBy(signalRows, (row) => row.execution_id);
    return rows
      .toSorted((a, b) => a.id - b.id)
      .map((row) => ({
        ...toClaimed(workerId, row),
        records: foldRecords(records.get(row.id) ?? []),
        signals: (signals.get(row.id) ?? []).map(toSignal),
      }));
  }
}

/** In turns if they are large; small ones are written together with what others write at this moment. */
function textOfRecords(
  { executionId }: Lease,
  records: readonly NodeRecord[],
): string | null | Promise<string> {
  if (records.length === 0) return null;
  const work = stringifyWork(records, new Meter());
  return driveUnlimited(work, { executionId, nodeId: null });
}
