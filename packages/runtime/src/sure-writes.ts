import { coalesce } from '@millrace/database/coalesce';
import type { Database } from '@millrace/database/database';
import { DatabaseUnavailableError, isRetryable, isUniqueViolation } from '@millrace/database/errors';
import { pauseAfter } from '@millrace/database/retry';
import {
  applyFencedWrites,
  type FencedWrite,
  insertExecutions,
  readWrittenStates,
  type StartRow,
  type WrittenState,
} from './statements.ts';
import { judge, type Started, toStarted } from './store-rows.ts';

/** A start that is to be stored. */
export interface PendingStart {
  readonly row: StartRow;
  /** Asked before every further try while the database is away. */
  readonly keepTrying: () => boolean;
}

export interface SureWritesOptions {
  /** Asked before a write is tried again: once the worker's lease is over, trying is in vain. */
  readonly isLeaseValid: (workerId: string) => boolean;
  /** Told after every commit which executions it changed. */
  readonly onStored: (executionIds: readonly number[]) => void;
  /** Told of an execution whose end left something to be done with others. */
  readonly onFollowUps: (executionId: number) => void;
}

/**
 * Writes that are answered when it is known whether they are stored, also when a reply of the database is lost. Concurrent
 * ones share statements and commits.
 */
export interface SureWrites {
  /** False: the lease it is fenced by is over. */
  write(write: FencedWrite): Promise<boolean>;
  start(start: PendingStart): Promise<Started>;
  /** In one statement: all or none. */
  startAll(starts: readonly PendingStart[]): Promise<Started[]>;
}

/** Rows of one statement at most, and bytes of JSON in it: PostgreSQL and this process hold it whole in memory. */
const MAX_BATCH_ITEMS = 500;
const MAX_BATCH_BYTES = 8 * 1024 * 1024;

export function createSureWrites(db: Database, options: SureWritesOptions): SureWrites {
  const limits = { maxItems: MAX_BATCH_ITEMS, maxWeight: MAX_BATCH_BYTES };
  return {
    write: coalesce<FencedWrite, boolean>({
      ...limits,
      run: (batch) => writeAll(db, batch, options),
      weightOf: (write) => write.recordsJson?.length ?? 0,
      keyOf: (write) => write.executionId,
      isOneItemsFault: isStatementsFault,
    }),
    start: coalesce<PendingStart, Started>({
      ...limits,
      run: (batch) => startAll(db, batch),
      weightOf: ({ row }) => row.inputJson.length + (row.recordsJson?.length ?? 0),
      isOneItemsFault: isStatementsFault,
    }),
    startAll: (starts) => startAll(db, starts),
  };
}

/** Sends a batch until the outcome of each of its writes is known. */
async function writeAll(
  db: Database,
  batch: readonly FencedWrite[],
  { isLeaseValid, onStored, onFollowUps }: SureWritesOptions,
): Promise<boolean[]> {
  const outcomes = new Map<FencedWrite, boolean>();
  // In one order, so that batches of two workers that meet in the same rows do not block each other.
  let open = batch.toSorted((a, b) => a.executionId - b.executionId);
  for (let failures = 0; open.length > 0; ) {
    try {
      if (failures > 0) {
        // A reply was lost before: what it said is read, and only what is certainly not stored is sent again.
        const states = await readStates(
          db,
          open.map((write) => write.executionId),
        );
        for (const write of open) {
          const verdict = judge(write, states.get(write.executionId));
          if (verdict !== 'open') outcomes.set(write, verdict === 'stored');
        }
        open = open.filter((write) => !outcomes.has(write));
        if (open.length === 0) break;
      }
      const rows = await applyFencedWrites(db, open);
      for (const row of rows) if (row.has_follow_ups) onFollowUps(row.id);
      const changed = new Set(rows.map((row) => row.id));
      // After a lost reply a write that changed nothing may have been stored by the earlier try: read once more.
      const settled = failures === 0 ? open : open.filter((write) => changed.has(write.executionId));
      for (const write of settled) outcomes.set(write, changed.has(write.executionId));
      open = open.filter((write) => !outcomes.has(write));
    } catch (error) {
      if (!isUnknownOutcome(error) || !batch.some(({ workerId }) => isLeaseValid(workerId))) throw error;
      await pauseAfter(failures);
      failures += 1;
    }
  }
  onStored(batch.filter((write) => outcomes.get(write) === true).map((write) => write.executionId));
  return batch.map((write) => outcomes.get(write) === true);
}

/** Inserts a batch until it is known of each row whether it is stored. */
async function startAll(db: Database, batch: readonly PendingStart[]): Promise<Started[]> {
  const rows = batch.map(({ row }) => row);
  for (let failures = 0; ; failures += 1) {
    try {
      // After a lost reply it is read what is stored, and only what certainly is not is sent again.
      const known =
        failures === 0
          ? new Map<number, WrittenState>()
          : await readStates(
              db,
              rows.map((row) => row.id),
            );
      const missing = rows.filter((row) => !known.has(row.id));
      const inserted = missing.length === 0 ? [] : await insertExecutions(db, missing);
      const stored = new Map([...known.values(), ...inserted].map((row) => [row.id, row]));
      return rows.map((row) => toStarted(row, stored.get(row.id)));
    } catch (error) {
      // The earlier try was stored between the reading and the insert: the next reading will show it.
      const hasRaced = failures > 0 && isUniqueViolation(error);
      if (!hasRaced && !isUnknownOutcome(error)) throw error;
      if (!batch.some(({ keepTrying }) => keepTrying())) throw error;
      await pauseAfter(failures);
    }
  }
}

async function readStates(db: Database, ids: readonly number[]): Promise<Map<number, WrittenState>> {
  return new Map((await readWrittenStates(db, ids)).map((state) => [state.id, state]));
}

function isUnknownOutcome(error: unknown): boolean {
  return error instanceof DatabaseUnavailableError || isRetryable(error);
}

function isStatementsFault(error: unknown): boolean {
  return !isUnknownOutcome(error);
}
