import { setTimeout as pause } from 'node:timers/promises';
import { pruneAlerts } from '@millrace/alerts/message-store';
import { pruneLiveTexts } from '@millrace/chat/live-text';
import { pruneMemories } from '@millrace/chat/memory-store';
import { pruneSessions as pruneChats } from '@millrace/chat/turns';
import type { Database, Queryable } from '@millrace/database/database';
import { tryLock } from '@millrace/database/locks';
import { pruneInvitations } from '@millrace/identity/invitations/store';
import { pruneSessions } from '@millrace/identity/sessions/store';
import { pruneSetupLinks } from '@millrace/identity/setup/store';
import { pruneItems } from '@millrace/polling/store';
import { DATA_WRITE_DAYS } from '@millrace/ports/data';
import { pruneDataEntries, pruneDataWrites } from '@millrace/ports/data-store';
import { pruneStartRates } from '@millrace/runtime/held-start-statements';
import { createPeriodicTask, type PeriodicTask } from '@millrace/runtime/periodic-task';
import { prunePermitChanges } from '@millrace/runtime/start-permits';
import type { Logger } from 'pino';
import { pruneListeners } from '../samples/store.ts';
import { pruneFires } from '../schedules/store.ts';
import type { RetentionSettings } from '../settings.ts';
import { pruneTrials } from '../trials/store.ts';
import { pruneDeliveries, pruneFormerHashes } from '../webhooks/store.ts';
import { pruneRuns } from '../workflows/run-store.ts';
import { pruneAuditLog, pruneExecutions, pruneIdempotencyRecords, pruneWorkers } from './store.ts';

const INTERVAL_MS = 10 * 60_000;
/** What expired while the service was stopped is deleted soon, but not while the first requests are being served. */
const FIRST_PAUSE_MS = 15_000;
/** Rows read or deleted by one statement: few enough that concurrent requests hardly wait. */
const BATCH = 1_000;
/**
 * The pause after a batch of executions, as a multiple of the time it took: deleting takes at most a quarter of one connection's time, and
 * less while the database is busy with other work.
 */
const REST_FACTOR = 3;
/** Maximum pause, which stopping may have to wait for. */
const MAX_REST_MS = 1_000;
/** How long the history of alerts is kept. */
const ALERT_DAYS = 90;
/** How long an ended invitation stays in the list. */
const INVITATION_DAYS = 90;
/** How long items that polls no longer find are remembered, in case they are listed again. */
const POLLED_ITEM_DAYS = 30;
const IDEMPOTENCY_MS_PER_HOUR = 3_600_000;

/** Deletes what has exceeded its retention, shortly after start-up and then every ten minutes, in one process at a time. */
export function createPruner(db: Database, retention: RetentionSettings, log: Logger): PeriodicTask {
  return createPeriodicTask({
    async work(isStopping) {
      const pruned = await prune(db, retention, isStopping, restAfter);
      if (Object.values(pruned).some((count) => count > 0)) log.info(pruned, 'old rows deleted');
    },
    pauseMs: () => INTERVAL_MS,
    firstPauseMs: FIRST_PAUSE_MS,
    onFailure: (error) => log.warn({ err: error }, 'could not delete old rows; retrying in the next round'),
  });
}

/** Pauses after a batch, so that other work gets the database. */
export async function restAfter(tookMs: number): Promise<void> {
  await pause(Math.min(tookMs * REST_FACTOR, MAX_REST_MS));
}

/**
 * One round over everything that has a retention. Executions that haven't ended are never deleted.
 * @param isStopping called between batches
 * @param rest called between batches of executions, of which there may be millions; by default they follow each other at once
 */
export async function prune(
  db: Database,
  retention: RetentionSettings,
  isStopping: () => boolean = () => false,
  rest: (tookMs: number) => Promise<void> = () => Promise.resolve(),
) {
  const { executionsDays, auditDays, statisticsDays, idempotencyHours, idleSessionMs } = retention;
  // Never shorter than the window for replays, regardless of the setting.
  const idempotencyMs = Math.max(idempotencyHours, 24) * IDEMPOTENCY_MS_PER_HOUR;
  const repeat = (work: Work<number>) => repeatUnderLock(db, isStopping, work);
  return {
    executions: await pruneAllExecutions(db, executionsDays, isStopping, rest),
    auditEntries: await pruneAuditEntries(db, auditDays, isStopping),
    idempotencyRecords: await repeat((tx) => pruneIdempotencyRecords(tx, idempotencyMs, BATCH)),
    workflowRuns: await repeat((tx) => pruneRuns(tx, statisticsDays, BATCH)),
    workers: await repeat((tx) => pruneWorkers(tx, BATCH)),
    // For as long as any of the executions they started may exist.
    scheduleFires: await repeat((tx) => pruneFires(tx, Math.max(...Object.values(executionsDays)), BATCH)),
    polledItems: await repeat((tx) => pruneItems(tx, POLLED_ITEM_DAYS, BATCH)),
    webhookDeliveries: await repeat((tx) => pruneDeliveries(tx, BATCH)),
    trials: await repeat((tx) => pruneTrials(tx, BATCH)),
    sampleListeners: await repeat((tx) => pruneListeners(tx, BATCH)),
    formerWebhookHashes: await repeat((tx) => pruneFormerHashes(tx, BATCH)),
    permitChanges: await repeat((tx) => prunePermitChanges(tx, BATCH)),
    startRates: await repeat((tx) => pruneStartRates(tx, BATCH)),
    dataEntries: await repeat((tx) => pruneDataEntries(tx, BATCH)),
    dataWrites: await repeat((tx) => pruneDataWrites(tx, DATA_WRITE_DAYS, BATCH)),
    chats: await repeat((tx) => pruneChats(tx, BATCH)),
    chatTexts: await repeat((tx) => pruneLiveTexts(tx, BATCH)),
    memories: await repeat((tx) => pruneMemories(tx, BATCH)),
    alerts: await repeat((tx) => pruneAlerts(tx, ALERT_DAYS, BATCH)),
    sessions: await repeat((tx) => pruneSessions(tx, idleSessionMs, BATCH)),
    invitations: await repeat((tx) => pruneInvitations(tx, INVITATION_DAYS, BATCH)),
    setupLinks: await repeat((tx) => pruneSetupLinks(tx, BATCH)),
  };
}

type Work<Result> = (tx: Queryable) => Promise<Result>;

/** Null if another process holds it. */
function underLock<Result>(db: Database, work: Work<Result>): Promise<Result | null> {
  return db.transaction(async (tx) => ((await tryLock(tx, 'prune')) ? work(tx) : null));
}

async function repeatUnderLock(db: Database, isStopping: () => boolean, work: Work<number>): Promise<number> {
  let total = 0;
  while (!isStopping()) {
    const count = await underLock(db, work);
    total += count ?? 0;
    if (count === null || count < BATCH) break;
  }
  return total;
}

async function pruneAuditEntries(db: Database, days: number, isStopping: () => boolean): Promise<number> {
  let total = 0;
  while (!isStopping()) {
    const round = await underLock(db, (tx) => pruneAuditLog(tx, days, BATCH));
    total += round?.deleted ?? 0;
    if (round === null || round.isLast) break;
  }
  return total;
}

type Days = RetentionSettings['executionsDays'];

async function pruneAllExecutions(
  db: Database,
  days: Days,
  isStopping: () => boolean,
  rest: (tookMs: number) => Promise<void>,
): Promise<number> {
  let total = 0;
  for (const status of ['completed', 'failed', 'cancelled'] as const) {
    let afterWorkflowId: number | null = 0;
    while (afterWorkflowId !== null && !isStopping()) {
      const from: number = afterWorkflowId;
      const beganAt = performance.now();
      const round = await underLock(db, (tx) => pruneExecutions(tx, status, days[status], from, BATCH));
      if (round === null) return total;
      total += round.deleted;
      // Continues with the same workflows while they may have more to delete.
      if (round.deleted < BATCH) afterWorkflowId = round.lastWorkflowId;
      else if (!isStopping()) await rest(performance.now() - beganAt);
    }
  }
  return total;
}
