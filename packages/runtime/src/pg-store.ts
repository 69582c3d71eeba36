import type { Database } from '@millrace/database/database';
import {
  type ClaimedExecution,
  type ExecutionStore,
  foldRecords,
  isTurnOfOldest,
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
import { decideAllStarts } from './concurrency.ts';
import { createConfirmedWrites, LARGE_BYTES } from './confirmed-writes.ts';
import type { ClaimRoom } from './data-budget.ts';
import { driveUnlimited } from './drive.ts';
import { lookForWork, type WaitingWork } from './follow-up-statements.ts';
import { createFollowUps } from './follow-ups.ts';
import { releaseHeldStarts } from './held-starts.ts';
import {
  adoptExecutions,
  type ClaimedRow,
  type ClaimedTurn,
  claimExecutions,
  countLiveWorkers,
  endWorkerLease,
  findLostLeases,
  inheritExecutions,
  insertWorker,
  type LimitedTurn,
  listLeased,
  renewWorkerLease,
  uncountCrashes,
  WORKER_CRASHED,
} from './lease-statements.ts';
import { claimLimited } from './limited-statements.ts';
import { Meters } from './meters/meters.ts';
import { ROOM_FOR_ALL } from './room-statements.ts';
import { type ClaimShares, listOwnShares } from './share-statements.ts';
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
  readonly #meters: Meters;
  readonly #write: ReturnType<typeof createConfirmedWrites>;
  readonly #settle: () => Promise<void>;
  /** Executions whose end was stored and left follow-up work for other executions. */
  readonly #unsettled = new Set<number>();
  #claims = 0;
  #nextHeldMs: number | null = null;
  #quietMs = 0;
  /** The organisation with the last turn when free slots were claimed. */
  #lastOrganisation = 0;
  /** How many executions it was given in a turn that isn't over; 0 if it is. */
  #takenOfTurn = 0;

  constructor(db: Database, options: PgStoreOptions) {
    this.#db = db;
    this.#options = options;
    this.#meters = options.meters ?? new Meters();
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
    this.#claims += 1;
    const work = await this.#findWork();
    if (work.has_undecided) await this.decideStarts();
    // What has just been decided may be claimed, too.
    const hasLimited = work.has_limited || work.has_undecided;
    const hasUnlimited = work.has_claimable || work.has_undecided || work.has_follow_ups;
    if (work.has_follow_ups) await this.#settle();
    if (work.has_failures) this.#options.onFailure();
    const rows: ClaimedRow[] = [];
    try {
      const claim = { workerId, limit, room };
      for await (const more of this.#claimParts(claim, slots, { hasLimited, hasUnlimited }))
        rows.push(...more);
    } catch (error) {
      // Earlier parts of this claim are leased to this worker, and would be found only at the next heartbeat.
      if (rows.length === 0) throw error;
    }
    this.#options.onChanged(rows.map((row) => row.id));
    const running = rows.filter(({ status }) => status === 'running');
    if (running.length < rows.length) await this.#settleEnds();
    return this.#load(workerId, running);
  }

  /** Milliseconds after the last claim at which a held start may be released; null if none was held. */
  get nextHeldMs(): number | null {
    return this.#nextHeldMs;
  }

  /** Milliseconds after the last claim in which there will be nothing to claim unless a notification says so. */
  get quietMs(): number {
    return this.#quietMs;
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

  /** Limited and unlimited executions share the slots, and neither can starve the other: each has priority for half of them. */
  async *#claimParts(
    claim: ClaimOrder,
    shares: SlotShares,
    { hasLimited, hasUnlimited }: { readonly hasLimited: boolean; readonly hasUnlimited: boolean },
  ): AsyncGenerator<ClaimedRow[]> {
    if (!hasLimited) {
      if (hasUnlimited) yield* this.#claimUnlimited(claim, shares);
      return;
    }
    const { limit } = claim;
    const half = (limit + (this.#claims % 2)) >> 1;
    const claimed = await this.#claimLimited({ ...claim, limit: half }, shares);
    const wasFull = claimed.length === half;
    yield claimed;
    for await (const rows of this.#claimUnlimited(leftOf(claim, claimed), without(shares, claimed))) {
      claimed.push(...rows);
      yield rows;
    }
    if (wasFull) yield await this.#claimLimited(leftOf(claim, claimed), without(shares, claimed));
  }

  /** Claims again while an organisation has more than its part of the last claim and slots are left. */
  async *#claimUnlimited(claim: ClaimOrder, shares: SlotShares): AsyncGenerator<ClaimedRow[]> {
    const claimed: ClaimedRow[] = [];
    const { maxCrashedAttempts } = this.#options;
    for (let hasMore = true; hasMore && claimed.length < claim.limit; ) {
      const { workerId, limit, room } = leftOf(claim, claimed);
      const next = this.#nextIn(without(shares, claimed));
      const rows = await claimExecutions(this.#db, workerId, limit, maxCrashedAttempts, next, room);
      this.#noteTurn(rows);
      this.#noteTakeOvers(rows);
      claimed.push(...rows);
      yield rows;
      hasMore = rows.some((row) => row.has_more);
    }
  }

  async #claimLimited({ workerId, limit, room }: ClaimOrder, shares: SlotShares): Promise<ClaimedRow[]> {
    if (limit <= 0) return [];
    const { maxCrashedAttempts } = this.#options;
    const next = this.#nextIn(shares);
    const rows = await this.#db.transaction((tx) =>
      claimLimited(tx, workerId, limit, maxCrashedAttempts, next, room),
    );
    this.#noteTurn(rows);
    return rows;
  }

  /** Continues a turn that isn't over. */
  #nextIn(shares: SlotShares): ClaimShares {
    const takenOfTurn = this.#takenOfTurn;
    const afterOrganisation = this.#lastOrganisation - (takenOfTurn > 0 ? 1 : 0);
    return { ...shares, afterOrganisation, takenOfTurn, isTurnOfOldest: isTurnOfOldest(this.#claims) };
  }

  #noteTakeOvers(rows: readonly (ClaimedRow & ClaimedTurn)[]): void {
    for (const {
      crashed,
      status,
      organisation_id: organisationId,
      workflow_id: workflowId,
      ...row
    } of rows) {
      if (!crashed) continue;
      this.#meters.takeOvers += 1;
      if (status !== 'failed') continue;
      const seconds = (Date.now() - row.started_at.getTime()) / 1000;
      this.#meters.executionEnded({ organisationId, workflowId }, WORKER_CRASHED, seconds);
      const { id: executionId, started_as: startedAs, started_at: startedAt, traceparent } = row;
      const execution = {
        executionId,
        startedAs,
        organisationId,
        workflowId,
        startedAtMs: startedAt.getTime(),
        traceparent,
      };
      this.#options.tracer?.endExecution(execution, 'failed', WORKER_CRASHED, Date.now());
    }
  }

  #noteTurn(rows: readonly (Pick<ClaimedRow, 'organisation_id'> & LimitedTurn)[]): void {
    let lastTurn = 0;
    for (const { organisation_id: organisationId, turn, taken_of_turn: takenOfTurn } of rows) {
      if (turn < lastTurn) continue;
      lastTurn = turn;
      this.#lastOrganisation = organisationId;
      this.#takenOfTurn = takenOfTurn;
    }
  }

  /** Looks for work after releasing held starts that are due, as these may be part of it. */
  async #findWork(): Promise<WaitingWork> {
    let work = await lookForWork(this.#db);
    if (work.next_held_ms !== null && work.next_held_ms <= 0) {
      await releaseHeldStarts(this.#db);
      work = await lookForWork(this.#db);
    }
    this.#nextHeldMs = work.next_held_ms;
    this.#quietMs = quietMsOf(work);
    return work;
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

interface ClaimOrder {
  readonly workerId: string;
  readonly limit: number;
  readonly room: ClaimRoom;
}

/** What is left of a claim after these. Large ones wait for the next claim, when it is known what these hold. */
function leftOf({ workerId, limit, room }: ClaimOrder, claimed: readonly ClaimedRow[]): ClaimOrder {
  const hasLarge = claimed.some((row) => row.data_bytes > room.smallBytes);
  const left = hasLarge ? { ...room, freeBytes: 0, isIdle: false } : room;
  return { workerId, limit: limit - claimed.length, room: left };
}

/** The shares after these were claimed. */
function without(shares: SlotShares, claimed: readonly ClaimedRow[]): SlotShares {
  if (claimed.length === 0) return shares;
  const held = new Map(shares.held);
  for (const { organisation_id: id } of claimed) held.set(id, (held.get(id) ?? 0) + 1);
  return { ...shares, free: shares.free - claimed.length, held };
}

/** Running executions may end or park at any time, and the end of a wait in another process sends no notification. */
function quietMsOf(work: WaitingWork): number {
  const { is_quiet: isQuiet, next_held_ms: nextHeldMs, next_wake_ms: nextWakeMs, ...found } = work;
  if (!isQuiet || nextHeldMs !== null || Object.values(found).includes(true)) return 0;
  return Math.max(0, nextWakeMs ?? Infinity);
}
