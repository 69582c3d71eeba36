import { coalesce } from '@millrace/database/coalesce';
import type { Database, Queryable } from '@millrace/database/database';
import {
  DatabaseUnavailableError,
  isRetryable,
  isTimeout,
  isUniqueViolation,
} from '@millrace/database/errors';
import { pauseAfter } from '@millrace/database/retry';
import { type HeldStarts, StartRefusedError, storeStarts } from './held-starts.ts';
import { insertExecutions, type StartRow } from './start-statements.ts';
import { applyFencedWrites, type FencedWrite, readWrittenStates, type WrittenState } from './statements.ts';
import { judge, type Started, toStarted } from './store-rows.ts';

export interface PendingStart {
  readonly row: StartRow;
  /** Checked before every further try while the database is unavailable. */
  readonly keepTrying: () => boolean;
}

export interface ConfirmedWritesOptions {
  /** Checked before a write is retried: retrying is pointless once the worker's lease has expired. */
  readonly isLeaseValid: (workerId: string) => boolean;
  /** Called after every commit with the executions it changed. */
  readonly onStored: (executionIds: readonly number[]) => void;
  /** Called with an execution whose end left follow-up work for other executions. */
  readonly onFollowUps: (executionId: number) => void;
}

/** Maximum rows of one statement, and bytes of JSON in it: PostgreSQL and this process keep all of it in memory. */
const LIMITS = { maxItems: 500, maxWeight: 1024 * 1024 };
/** Concurrent statements with accepted starts: with one, process and database would wait for each other in turn. */
const START_LANES = 3;
/** A statement with this many starts is sent even while more are arriving in this turn of the event loop. */
const EAGER_STARTS = 24;
/** From this size on, a write has a statement to itself, so that no other waits until it is sent and stored. */
export const LARGE_BYTES = 64 * 1024;
/** How often a write may time out alone while the database stores others. */
const MAX_TIMEOUTS = 2;

/**
 * The database repeatedly took too long for this one write, with time and a connection of its own, while it stored others: it isn't
 * unavailable, and trying again won't help.
 */
export class WriteTimeoutError extends Error {
  override readonly name = 'WriteTimeoutError';
  readonly bytes: number;

  constructor(bytes: number, cause: unknown) {
    super(`Storing ${bytes} bytes took too long`, { cause });
    this.bytes = bytes;
  }
}

/**
 * Writes that resolve once it is known whether they are stored, even if a reply of the database is lost; false if the lease
 * a write is fenced by has ended. Concurrent ones share statements and commits. Large ones are sent alone, and so is each one of a batch
 * that timed out: it may be to blame, and the others must not wait for it again.
 * @throws WriteTimeoutError
 */
export function createConfirmedWrites(
  db: Database,
  options: ConfirmedWritesOptions,
): (write: FencedWrite) => Promise<boolean> {
  const together = coalesce({
    ...LIMITS,
    run: (batch: readonly FencedWrite[]) => writeAll(db, db, batch, options),
    weightOf: weightOfWrite,
    keyOf: (write) => write.executionId,
    isOneItemsFault: isStatementsFault,
  });
  async function writeAlone(write: FencedWrite, failed: number): Promise<boolean> {
    const [isStored] = await writeAll(db, db.large, [write], options, failed);
    return isStored === true;
  }
  return async (write) => {
    if (weightOfWrite(write) >= LARGE_BYTES) return writeAlone(write, 0);
    try {
      return await together(write);
    } catch (error) {
      if (!isTimeout(error) || !options.isLeaseValid(write.workerId)) throw error;
      return writeAlone(write, 1);
    }
  };
}

/**
 * The same for accepted starts. `stored` is false if the row's idempotency key was already used (or its id, which never
 * happens to reserved ids), or if its rate would hold it for longer than the given time. A start that was given up is rejected with
 * DatabaseUnavailableError; whether it was stored is then unknown.
 */
export function createConfirmedStarts(
  db: Database,
  maxRateWaitMs: number,
): (start: PendingStart) => Promise<Started> {
  const startWith = (insert: InsertStarts) =>
    coalesce({
      ...LIMITS,
      lanes: START_LANES,
      eagerFrom: EAGER_STARTS,
      run: (batch: readonly PendingStart[]) => startAll(db, batch, insert),
      weightOf: ({ row }) => weightOfStart(row),
      isOneItemsFault: isStatementsFault,
    });
  const together = startWith(insertBy(db));
  // Separate from the others, which must not wait for the locks of these.
  const heldTogether = startWith((rows) => db.transaction((tx) => storeStarts(tx, rows, maxRateWaitMs)));
  return async (start) => {
    if (start.row.hold !== null) return heldTogether(start);
    if (weightOfStart(start.row) < LARGE_BYTES) return together(start);
    const [started] = await startAll(db.large, [start], insertBy(db.large));
    return started as Started;
  };
}

type InsertStarts = (rows: readonly StartRow[]) => Promise<HeldStarts>;

function insertBy(writer: Queryable): InsertStarts {
  return async (rows) => ({ stored: await insertExecutions(writer, rows), refusedForMs: new Map() });
}

/** Starts to be stored by one transaction. */
export interface JointStarts {
  /** Of one organisation, and queued. */
  readonly rows: readonly StartRow[];
  /** If its rate would hold one of them for longer, all of them are refused. */
  readonly maxRateWaitMs: number;
  /** Is part of the transaction; false rolls it back. */
  readonly within: (tx: Queryable) => Promise<boolean>;
  /** Checked before every further try while the database is unavailable. */
  readonly keepTrying: () => boolean;
}

/**
 * Stores all rows or none.
 * @returns false if nothing is stored: `within` said so, or a concurrent request has used one of the idempotency keys. After a lost reply
 * that may have been this request itself.
 * @throws DatabaseUnavailableError if they were given up; whether they were stored is then unknown
 * @throws StartRefusedError
 */
export async function startTogether(
  db: Database,
  organisationId: number,
  { rows, maxRateWaitMs, within, keepTrying }: JointStarts,
): Promise<boolean> {
  const parts = splitByWeight(rows.toSorted(byKey));
  const [first] = rows;
  for (let failures = 0; ; failures += 1) {
    try {
      // All rows are stored if one of them is.
      const isKnown = failures > 0 && first !== undefined && (await readStates(db, [first.id])).size > 0;
      if (isKnown) return true;
      await db.forOrganisation(organisationId, async (tx) => {
        if (!(await within(tx))) throw new NothingStored();
        for (const part of parts) {
          const { stored, refusedForMs } = await storeStarts(tx, part, maxRateWaitMs);
          if (refusedForMs.size > 0) throw new StartRefusedError(Math.max(...refusedForMs.values()));
          if (stored.length < part.length) throw new NothingStored();
        }
      });
      return true;
    } catch (error) {
      if (error instanceof NothingStored) return false;
      // The earlier try was stored between the read and the insert: the next read will find it.
      const hasRaced = failures > 0 && isUniqueViolation(error);
      if ((!hasRaced && !isUnknownOutcome(error)) || !keepTrying()) throw error;
      await pauseAfter(failures);
    }
  }
}

/** Rolls back a transaction of {@link startTogether}. */
class NothingStored extends Error {}

/** In the order in which one statement locks keys, so that statements of concurrent transactions don't deadlock. */
function byKey(a: StartRow, b: StartRow): number {
  const [keyOfA, keyOfB] = [a, b].map(({ response }) => response?.idempotencyKey.key ?? '') as [
    string,
    string,
  ];
  if (keyOfA === keyOfB) return 0;
  return keyOfA < keyOfB ? -1 : 1;
}

/** All rows in one statement, unless their inputs are too large for that. */
function splitByWeight(rows: readonly StartRow[]): StartRow[][] {
  const parts: StartRow[][] = [];
  let weight = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    const weightOfRow = weightOfStart(row);
    if (weight + weightOfRow > LIMITS.maxWeight) {
      parts.push([]);
      weight = 0;
    }
    parts.at(-1)?.push(row);
    weight += weightOfRow;
  }
  return parts;
}

function weightOfWrite({ recordsJson, errorJson }: FencedWrite): number {
  return (recordsJson?.length ?? 0) + (errorJson?.length ?? 0);
}

function weightOfStart({ inputJson, recordsJson, response }: StartRow): number {
  return inputJson.length + (recordsJson?.length ?? 0) + (response?.body.length ?? 0);
}

/**
 * Sends a batch, through `writer`, until the outcome of each write is known.
 * @param failed how many tries have failed before, so that their outcome is unknown
 */
async function writeAll(
  db: Database,
  writer: Queryable,
  batch: readonly FencedWrite[],
  { isLeaseValid, onStored, onFollowUps }: ConfirmedWritesOptions,
  failed = 0,
): Promise<boolean[]> {
  const outcomes = new Map<FencedWrite, boolean>();
  // In a fixed order, so that batches of two workers that touch the same rows don't deadlock.
  let open = batch.toSorted((a, b) => a.executionId - b.executionId);
  let timeouts = 0;
  for (let failures = failed; open.length > 0; ) {
    try {
      if (failures > 0) {
        // A reply was lost before: reads what is stored, and resends only what is certainly not.
        const states = await readStates(
          writer,
          open.map((write) => write.executionId),
        );
        for (const write of open) {
          const verdict = judge(write, states.get(write.executionId));
          if (verdict !== 'open') outcomes.set(write, verdict === 'stored');
        }
        open = open.filter((write) => !outcomes.has(write));
        if (open.length === 0) break;
      }
      const rows = await applyFencedWrites(writer, open);
      for (const row of rows) if (row.has_follow_ups) onFollowUps(row.id);
      const changed = new Set(rows.map((row) => row.id));
      // After a lost reply, a write that changed nothing may have been stored by the earlier try: read once more.
      const settled = failures === 0 ? open : open.filter((write) => changed.has(write.executionId));
      for (const write of settled) outcomes.set(write, changed.has(write.executionId));
      open = open.filter((write) => !outcomes.has(write));
    } catch (error) {
      if (!isUnknownOutcome(error) || !batch.some(({ workerId }) => isLeaseValid(workerId))) throw error;
      if (isTimeout(error)) {
        // The lease is valid, so the database has stored heartbeats in the meantime: it is available.
        timeouts += 1;
        if (writer === db) throw error;
        if (timeouts === MAX_TIMEOUTS) throw new WriteTimeoutError(batch.reduce(addWeight, 0), error);
      }
      await pauseAfter(failures);
      failures += 1;
    }
  }
  onStored(batch.filter((write) => outcomes.get(write) === true).map((write) => write.executionId));
  return batch.map((write) => outcomes.get(write) === true);
}

function addWeight(sum: number, write: FencedWrite): number {
  return sum + weightOfWrite(write);
}

/** Inserts a batch until it is known for each row whether it is stored. */
async function startAll(
  db: Queryable,
  batch: readonly PendingStart[],
  insert: InsertStarts,
): Promise<Started[]> {
  const rows = batch.map(({ row }) => row);
  for (let failures = 0; ; failures += 1) {
    try {
      // After a lost reply, reads what is stored, and resends only what is certainly not.
      const known =
        failures === 0
          ? new Map<number, WrittenState>()
          : await readStates(
              db,
              rows.map((row) => row.id),
            );
      const missing = rows.filter((row) => !known.has(row.id));
      const inserted = missing.length === 0 ? null : await insert(missing);
      const stored = new Map([...known.values(), ...(inserted?.stored ?? [])].map((row) => [row.id, row]));
      return rows.map((row) => toStarted(row, stored.get(row.id), inserted?.refusedForMs.get(row.id)));
    } catch (error) {
      // The earlier try was stored between the read and the insert: the next read will find it.
      const hasRaced = failures > 0 && isUniqueViolation(error);
      if (!hasRaced && !isUnknownOutcome(error)) throw error;
      if (!batch.some(({ keepTrying }) => keepTrying())) throw error;
      await pauseAfter(failures);
    }
  }
}

async function readStates(db: Queryable, ids: readonly number[]): Promise<Map<number, WrittenState>> {
  return new Map((await readWrittenStates(db, ids)).map((state) => [state.id, state]));
}

function isUnknownOutcome(error: unknown): boolean {
  return error instanceof DatabaseUnavailableError || isRetryable(error);
}

function isStatementsFault(error: unknown): boolean {
  return !isUnknownOutcome(error);
}
