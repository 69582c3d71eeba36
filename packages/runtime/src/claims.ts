import type { Database } from '@millrace/database/database';
import { isTurnOfOldest, type SlotShares } from '@millrace/engine';
import type { ClaimRoom } from './data-budget.ts';
import { lookForWork, type WaitingWork } from './follow-up-statements.ts';
import { releaseHeldStarts } from './held-starts.ts';
import {
  type ClaimedRow,
  type ClaimedTurn,
  claimExecutions,
  type LimitedTurn,
  WORKER_CRASHED,
} from './lease-statements.ts';
import { claimLimited } from './limited-statements.ts';
import type { Meters } from './meters/meters.ts';
import type { ClaimShares } from './share-statements.ts';
import type { Tracer } from './tracing/tracer.ts';

export interface ClaimsOptions {
  readonly maxCrashedAttempts: number;
  readonly meters: Meters;
  readonly tracer: Tracer | null;
}

/** The claims of one worker, which takes from organisations in turn. */
export class Claims {
  readonly #db: Database;
  readonly #options: ClaimsOptions;
  #count = 0;
  #nextHeldMs: number | null = null;
  #quietMs = 0;
  /** The organisation with the last turn when free slots were claimed. */
  #lastOrganisation = 0;
  /** How many executions it was given in a turn that isn't over; 0 if it is. */
  #takenOfTurn = 0;

  constructor(db: Database, options: ClaimsOptions) {
    this.#db = db;
    this.#options = options;
  }

  /** Milliseconds after the last {@link findWork} at which a held start may be released; null if none was held. */
  get nextHeldMs(): number | null {
    return this.#nextHeldMs;
  }

  /** Milliseconds after the last {@link findWork} in which there will be nothing to claim unless a notification says so. */
  get quietMs(): number {
    return this.#quietMs;
  }

  /** Looks for work after releasing held starts that are due, as these may be part of it. */
  async findWork(): Promise<WaitingWork> {
    let work = await lookForWork(this.#db);
    if (work.next_held_ms !== null && work.next_held_ms <= 0) {
      await releaseHeldStarts(this.#db);
      work = await lookForWork(this.#db);
    }
    this.#nextHeldMs = work.next_held_ms;
    this.#quietMs = quietMsOf(work);
    return work;
  }

  /** Leases executions to the worker. If a part of the claim fails, it returns what was leased before, or throws if that is nothing. */
  async claim(
    order: ClaimOrder,
    shares: SlotShares,
    work: { readonly hasLimited: boolean; readonly hasUnlimited: boolean },
  ): Promise<ClaimedRow[]> {
    this.#count += 1;
    const rows: ClaimedRow[] = [];
    try {
      for await (const more of this.#claimParts(order, shares, work)) rows.push(...more);
    } catch (error) {
      // Earlier parts of this claim are leased to this worker, and would be found only at the next heartbeat.
      if (rows.length === 0) throw error;
    }
    return rows;
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
    const half = (limit + (this.#count % 2)) >> 1;
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
    return { ...shares, afterOrganisation, takenOfTurn, isTurnOfOldest: isTurnOfOldest(this.#count) };
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
      this.#options.meters.takeOvers += 1;
      if (status !== 'failed') continue;
      const seconds = (Date.now() - row.started_at.getTime()) / 1000;
      this.#options.meters.executionEnded({ organisationId, workflowId }, WORKER_CRASHED, seconds);
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
}

export interface ClaimOrder {
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
  return work.is_quiet ? Math.max(0, work.next_wake_ms ?? Infinity) : 0;
}
