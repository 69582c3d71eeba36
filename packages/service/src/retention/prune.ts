import type { Database } from '@millrace/database/database';
import { pruneInvitations } from '@millrace/identity/invitations/store';
import { pruneSessions } from '@millrace/identity/sessions/store';
import { pruneSetupLinks } from '@millrace/identity/setup/store';
import { createPeriodicTask, type PeriodicTask } from '@millrace/runtime/periodic-task';
import { DATA_WRITE_DAYS } from '@millrace/runtime/ports/data';
import { pruneDataEntries, pruneDataWrites } from '@millrace/runtime/ports/data-store';
import type { Logger } from 'pino';
import { pruneListeners } from '../samples/store.ts';
import { pruneFires } from '../schedules/store.ts';
import type { RetentionSettings } from '../settings.ts';
import { pruneTrials } from '../trials/store.ts';
import { pruneDeliveries, pruneFormerHashes } from '../webhooks/store.ts';
import {
  pruneAuditLog,
  pruneExecutions,
  pruneIdempotencyRecords,
  pruneWorkers,
  tryPruneLock,
} from './store.ts';

const INTERVAL_MS = 10 * 60_000;
/** Whatever expired while nothing ran is deleted soon, but not while the first requests are being served. */
const FIRST_PAUSE_MS = 15_000;
/** Rows read or deleted by one statement: short enough not to be noticed by concurrent requests. */
const BATCH = 1_000;
/** How long an ended invitation stays in the list. */
const INVITATION_DAYS = 90;
const IDEMPOTENCY_MS_PER_HOUR = 3_600_000;

/** Deletes whatever has exceeded its retention, shortly after start-up and then every ten minutes, in one process at a time. */
export function createPruner(
  db: Database,
  retention: RetentionSettings,
  log: Logger,
  { firstPauseMs = FIRST_PAUSE_MS, intervalMs = INTERVAL_MS } = {},
): PeriodicTask {
  return createPeriodicTask({
    async work(isStopping) {
      const pruned = await prune(db, retention, isStopping);
      if (Object.values(pruned).some((count) => count > 0)) log.info(pruned, 'old rows deleted');
    },
    pauseMs: () => intervalMs,
    firstPauseMs,
    onFailure: (error) => log.warn({ err: error }, 'could not delete old rows; retrying in the next round'),
  });
}

export interface Pruned {
  readonly executions: number;
  readonly auditEntries: number;
  readonly idempotencyRecords: number;
  readonly workers: number;
  readonly scheduleFires: number;
  readonly webhookDeliveries: number;
  readonly trials: number;
  readonly sampleListeners: number;
  readonly formerWebhookHashes: number;
  readonly dataEntries: number;
  readonly dataWrites: number;
  readonly sessions: number;
  readonly invitations: number;
  readonly setupLinks: number;
}

/**
 * One round over everything that has a retention. Executions that haven't ended are never deleted.
 * @param isStopping called between batches
 */
export async function prune(
  db: Database,
  retention: RetentionSettings,
  isStopping: () => boolean = () => false,
): Promise<Pruned> {
  const { executionsDays, auditDays, idempotencyHours, idleSessionMs } = retention;
  // Never shorter than the window for replays, whatever is configured.
  const idempotencyMs = Math.max(idempotencyHours, 24) * IDEMPOTENCY_MS_PER_HOUR;
  return {
    executions: await pruneAllExecutions(db, executionsDays, isStopping),
    auditEntries: await repeat(db, isStopping, (tx) => pruneAuditLog(tx, auditDays, BATCH)),
    idempotencyRecords: await repeat(db, isStopping, (tx) =>
      pruneIdempotencyRecords(tx, idempotencyMs, BATCH),
    ),
    workers: await repeat(db, isStopping, (tx) => pruneWorkers(tx, BATCH)),
    // For as long as any of the executions they started may exist.
    scheduleFires: await repeat(db, isStopping, (tx) =>
      pruneFires(tx, Math.max(...Object.values(executionsDays)), BATCH),
    ),
    webhookDeliveries: await repeat(db, isStopping, (tx) => pruneDeliveries(tx, BATCH)),
    trials: await repeat(db, isStopping, (tx) => pruneTrials(tx, BATCH)),
    sampleListeners: await repeat(db, isStopping, (tx) => pruneListeners(tx, BATCH)),
    formerWebhookHashes: await repeat(db, isStopping, (tx) => pruneFormerHashes(tx, BATCH)),
    dataEntries: await repeat(db, isStopping, (tx) => pruneDataEntries(tx, BATCH)),
    dataWrites: await repeat(db, isStopping, (tx) => pruneDataWrites(tx, DATA_WRITE_DAYS, BATCH)),
    sessions: await repeat(db, isStopping, (tx) => pruneSessions(tx, idleSessionMs, BATCH)),
    invitations: await repeat(db, isStopping, (tx) => pruneInvitations(tx, INVITATION_DAYS, BATCH)),
    setupLinks: await repeat(db, isStopping, (tx) => pruneSetupLinks(tx, BATCH)),
  };
}

type Work<Result> = (tx: Parameters<Parameters<Database['transaction']>[0]>[0]) => Promise<Result>;

/** Null if another process holds it. */
function underLock<Result>(db: Database, work: Work<Result>): Promise<Result | null> {
  return db.transaction(async (tx) => ((await tryPruneLock(tx)) ? work(tx) : null));
}

async function repeat(db: Database, isStopping: () => boolean, work: Work<number>): Promise<number> {
  let total = 0;
  while (!isStopping()) {
    const count = await underLock(db, work);
    total += count ?? 0;
    if (count === null || count < BATCH) break;
  }
  return total;
}

type Days = RetentionSettings['executionsDays'];

async function pruneAllExecutions(db: Database, days: Days, isStopping: () => boolean): Promise<number> {
  let total = 0;
  for (const status of ['completed', 'failed', 'cancelled'] as const) {
    let afterWorkflowId: number | null = 0;
    while (afterWorkflowId !== null && !isStopping()) {
      const from: number = afterWorkflowId;
      const round = await underLock(db, (tx) => pruneExecutions(tx, status, days[status], from, BATCH));
      if (round === null) return total;
      total += round.deleted;
      // Continues with the same workflows while they may have more to delete.
      if (round.deleted < BATCH) afterWorkflowId = round.lastWorkflowId;
    }
  }
  return total;
}
