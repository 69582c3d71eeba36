import type { Queryable } from '@millrace/database/database';
import { rowSet } from '@millrace/database/row-set';
import { OF_PAUSED } from '@millrace/runtime/paused';

/** A schedule and the workflow it starts, locked until the transaction ends. */
export interface ClaimedSchedule {
  readonly workflow_id: number;
  readonly organisation_id: number;
  /** JSON text of a complete definition. */
  readonly definition: string;
  readonly next_fire_time: Date | null;
  readonly fire_count: number;
  readonly name: string;
  readonly version: number;
  readonly is_test_mode: boolean;
}

/** A workflow's stored schedule, locked until the transaction ends; undefined if there is none yet. */
export async function lockSchedule(
  tx: Queryable,
  workflowId: number,
): Promise<{ definition: string; next_fire_time: Date | null } | undefined> {
  const [row] = await tx.query<{ definition: string; next_fire_time: Date | null }>(
    'SELECT definition, next_fire_time FROM schedules WHERE workflow_id = $1 FOR UPDATE',
    [workflowId],
  );
  return row;
}

export interface ScheduleChange {
  readonly workflowId: number;
  /** JSON text. */
  readonly definition: string;
  /** Both null if it has no next fire. */
  readonly nextFireTime: Date | null;
  readonly nextFireAt: Date | null;
}

/** Stores a schedule and notifies the processes that are waiting for the next fire. */
export async function putSchedule(tx: Queryable, change: ScheduleChange): Promise<void> {
  await tx.query(
    `INSERT INTO schedules (workflow_id, organisation_id, definition, next_fire_time, next_fire_at)
     SELECT id, organisation_id, $2::json, $3, $4 FROM workflows WHERE id = $1
     ON CONFLICT (workflow_id) DO UPDATE SET definition = EXCLUDED.definition,
       next_fire_time = EXCLUDED.next_fire_time, next_fire_at = EXCLUDED.next_fire_at
     RETURNING pg_notify('millrace_schedules', '')`,
    [change.workflowId, change.definition, change.nextFireTime, change.nextFireAt],
  );
}

/** Ends a workflow's chain of fires. */
export async function stopSchedule(tx: Queryable, workflowId: number): Promise<void> {
  await tx.query('UPDATE schedules SET next_fire_time = NULL, next_fire_at = NULL WHERE workflow_id = $1', [
    workflowId,
  ]);
}

/** Drops fires that are waiting for an earlier execution to end; the schedule must be locked. */
export async function dropQueuedFires(tx: Queryable, workflowId: number): Promise<void> {
  await tx.query(
    `UPDATE schedule_fires SET outcome = 'skipped', reason = 'inactive' WHERE workflow_id = $1 AND outcome = 'queued'`,
    [workflowId],
  );
}

const CLAIMED_SCHEDULES = `SELECT s.workflow_id, s.organisation_id, s.definition, s.next_fire_time, s.fire_count, w.name,
  w.version, w.is_test_mode
  FROM schedules s JOIN workflows w ON w.id = s.workflow_id
  WHERE NOT EXISTS (SELECT FROM organisations p WHERE p.id = s.organisation_id AND p.paused_at IS NOT NULL)`;

/** The schedule that has been due the longest and isn't locked by another process. */
export async function claimDueSchedule(tx: Queryable, now: Date): Promise<ClaimedSchedule | undefined> {
  const [row] = await tx.query<ClaimedSchedule>(
    `${CLAIMED_SCHEDULES} AND s.next_fire_at <= $1
     ORDER BY s.next_fire_at LIMIT 1 FOR UPDATE OF s SKIP LOCKED`,
    [now],
  );
  return row;
}

/** A schedule with a queued fire that is next, and not locked by another process. Check again once it is locked. */
export async function claimQueuedSchedule(tx: Queryable): Promise<ClaimedSchedule | undefined> {
  const [row] = await tx.query<ClaimedSchedule>(
    `${CLAIMED_SCHEDULES}
     AND s.workflow_id IN (SELECT workflow_id FROM schedule_fires WHERE outcome = 'queued')
       AND NOT EXISTS (SELECT FROM schedule_fires f JOIN executions e ON e.id = f.execution_id
         WHERE f.workflow_id = s.workflow_id AND f.is_open AND e.status IN ('queued', 'running', 'waiting_async'))
     LIMIT 1 FOR UPDATE OF s SKIP LOCKED`,
  );
  return row;
}

/** Stops counting fires whose execution has ended. The schedule must be locked. */
export async function closeEndedFires(tx: Queryable, workflowId: number): Promise<void> {
  await tx.query(
    `UPDATE schedule_fires f SET is_open = false
     WHERE f.workflow_id = $1 AND f.is_open AND NOT EXISTS (
       SELECT FROM executions e WHERE e.id = f.execution_id AND e.status IN ('queued', 'running', 'waiting_async'))`,
    [workflowId],
  );
}

/** How many fires of a schedule have an unfinished execution, and how many are queued. */
export async function countUnfinishedFires(
  tx: Queryable,
  workflowId: number,
): Promise<{ open: number; queued: number }> {
  const [row] = await tx.query<{ open: number; queued: number }>(
    `SELECT (SELECT count(*) FROM schedule_fires WHERE workflow_id = $1 AND is_open) AS open,
       (SELECT count(*) FROM schedule_fires WHERE workflow_id = $1 AND outcome = 'queued') AS queued`,
    [workflowId],
  );
  return row ?? { open: 0, queued: 0 };
}

export type FireOutcome =
  | { readonly outcome: 'started'; readonly executionId: number }
  | { readonly outcome: 'queued' }
  | { readonly outcome: 'skipped'; readonly reason: 'overlap' | 'queue_full' | 'missed' };

export type NewFire = FireOutcome & {
  readonly fireMs: number;
  readonly number: number;
  readonly isMissed: boolean;
};

const FIRES = rowSet<NewFire>(
  {
    fire_time: ['timestamptz', (fire) => new Date(fire.fireMs)],
    fire_number: ['bigint', (fire) => fire.number],
    is_missed: ['boolean', (fire) => fire.isMissed],
    outcome: ['text', (fire) => fire.outcome],
    reason: ['text', (fire) => (fire.outcome === 'skipped' ? fire.reason : null)],
    execution_id: ['bigint', (fire) => (fire.outcome === 'started' ? fire.executionId : null)],
  },
  3,
);

/** Records fires; returns the times of those not recorded before. */
export async function insertFires(
  tx: Queryable,
  schedule: Pick<ClaimedSchedule, 'workflow_id' | 'organisation_id'>,
  fires: readonly NewFire[],
): Promise<Date[]> {
  const rows = await tx.query<{ fire_time: Date }>(
    `INSERT INTO schedule_fires (workflow_id, organisation_id, ${FIRES.list()}, is_open)
     SELECT $1, $2, ${FIRES.list('f')}, f.outcome = 'started'
     FROM ${FIRES.sql} AS f (${FIRES.list()})
     ON CONFLICT (workflow_id, fire_time) DO NOTHING
     RETURNING fire_time`,
    [schedule.workflow_id, schedule.organisation_id, ...FIRES.values(fires)],
  );
  return rows.map((row) => row.fire_time);
}

/** Sets when a locked schedule fires next, and counts the recorded fires. */
export async function advanceSchedule(
  tx: Queryable,
  workflowId: number,
  next: { readonly fireTime: Date; readonly dueAt: Date } | null,
  recorded: number,
): Promise<void> {
  await tx.query(
    `UPDATE schedules SET next_fire_time = $2, next_fire_at = $3, fire_count = fire_count + $4 WHERE workflow_id = $1`,
    [workflowId, next?.fireTime ?? null, next?.dueAt ?? null, recorded],
  );
}

/** Postpones a schedule for a while; its next fire stays the same. */
export async function postponeSchedule(
  db: Queryable,
  workflowId: number,
  now: Date,
  delayMs: number,
): Promise<void> {
  await db.query(
    `UPDATE schedules SET next_fire_at = $2::timestamptz + $3::integer * interval '1 millisecond'
     WHERE workflow_id = $1 AND next_fire_at <= $2`,
    [workflowId, now, delayMs],
  );
}

export interface QueuedFire {
  readonly fire_time: Date;
  readonly fire_number: number;
  readonly is_missed: boolean;
}

/** The fire of a locked schedule that has been queued the longest. */
export async function findFirstQueued(tx: Queryable, workflowId: number): Promise<QueuedFire | undefined> {
  const [row] = await tx.query<QueuedFire>(
    `SELECT fire_time, fire_number, is_missed FROM schedule_fires
     WHERE workflow_id = $1 AND outcome = 'queued' ORDER BY fire_time LIMIT 1`,
    [workflowId],
  );
  return row;
}

/** Records that a queued fire was started after all. */
export async function startQueuedFire(
  tx: Queryable,
  workflowId: number,
  fireTime: Date,
  executionId: number,
): Promise<void> {
  await tx.query(
    `UPDATE schedule_fires SET outcome = 'started', execution_id = $3, is_open = true
     WHERE workflow_id = $1 AND fire_time = $2`,
    [workflowId, fireTime, executionId],
  );
}

/** When the next schedule is due; null if none is. */
export async function readNextDue(db: Queryable): Promise<Date | null> {
  const [row] = await db.query<{ at: Date | null }>(
    `SELECT min(next_fire_at) AS at FROM schedules WHERE NOT ${OF_PAUSED}`,
  );
  return row?.at ?? null;
}

/** Executions whose end lets a queued fire start. */
export async function listAwaitedExecutions(db: Queryable, limit: number): Promise<number[]> {
  const rows = await db.query<{ execution_id: number }>(
    `SELECT execution_id FROM schedule_fires
     WHERE is_open AND workflow_id IN (SELECT workflow_id FROM schedule_fires WHERE outcome = 'queued') LIMIT $1`,
    [limit],
  );
  return rows.map((row) => row.execution_id);
}

/** Deletes old fires that are finished. */
export async function pruneFires(tx: Queryable, days: number, limit: number): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM schedule_fires f USING (
       SELECT workflow_id, fire_time FROM schedule_fires
       WHERE recorded_at < now() - $1::double precision * interval '1 day' AND outcome <> 'queued'
         AND NOT EXISTS (SELECT FROM executions e
           WHERE e.id = execution_id AND is_open AND e.status IN ('queued', 'running', 'waiting_async'))
       ORDER BY recorded_at LIMIT $2
     ) old
     WHERE f.workflow_id = old.workflow_id AND f.fire_time = old.fire_time
     RETURNING f.fire_number`,
    [days, limit],
  );
  return rows.length;
}
