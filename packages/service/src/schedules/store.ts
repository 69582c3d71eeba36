import type { Queryable } from '@millrace/database/database';
import { rowSet } from '@millrace/database/row-set';
import { ORGANISATION_PAUSED } from '@millrace/runtime/paused';
import type { StoredSchedule } from './stored.ts';

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
export async function lockSchedule(tx: Queryable, workflowId: number): Promise<StoredSchedule | undefined> {
  const [row] = await tx.query<StoredSchedule>(
    'SELECT definition, next_fire_time, fire_count FROM schedules WHERE workflow_id = $1 FOR UPDATE',
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
  /** Of the first trigger. */
  readonly fireCount: number;
}

/** Stores a schedule and notifies the processes that are waiting for the next fire. */
export async function putSchedule(tx: Queryable, change: ScheduleChange): Promise<void> {
  await tx.query(
    `INSERT INTO schedules (workflow_id, organisation_id, definition, next_fire_time, next_fire_at, fire_count)
     SELECT id, organisation_id, $2::json, $3, $4, $5 FROM workflows WHERE id = $1
     ON CONFLICT (workflow_id) DO UPDATE SET definition = EXCLUDED.definition, fire_count = EXCLUDED.fire_count,
       next_fire_time = EXCLUDED.next_fire_time, next_fire_at = EXCLUDED.next_fire_at
     RETURNING pg_notify('millrace_schedules', '')`,
    [change.workflowId, change.definition, change.nextFireTime, change.nextFireAt, change.fireCount],
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

/**
 * Moves unfinished fires to the new names of their triggers, and drops what is queued for triggers that are gone; the schedule must be
 * locked.
 * @param named all names from now on; null for a workflow's only schedule
 */
export async function assignFires(
  tx: Queryable,
  workflowId: number,
  renamed: readonly { readonly from: string | null; readonly to: string | null }[],
  named: readonly (string | null)[],
): Promise<void> {
  await tx.query(
    `WITH renamed AS (SELECT * FROM unnest($2::text[], $3::text[]) AS r (former, present))
     UPDATE schedule_fires f SET node_id = r.present FROM renamed r
     WHERE f.workflow_id = $1 AND (f.is_open OR f.outcome = 'queued') AND f.node_id IS NOT DISTINCT FROM r.former`,
    [workflowId, renamed.map(({ from }) => from), renamed.map(({ to }) => to)],
  );
  await tx.query(
    `UPDATE schedule_fires f SET outcome = 'skipped', reason = 'inactive'
     WHERE f.workflow_id = $1 AND f.outcome = 'queued'
       AND NOT EXISTS (SELECT FROM unnest($2::text[]) AS n (name) WHERE n.name IS NOT DISTINCT FROM f.node_id)`,
    [workflowId, named],
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

/** A schedule with a queued fire whose trigger has nothing running, and not locked by another process. Check again once it is locked. */
export async function claimQueuedSchedule(tx: Queryable): Promise<ClaimedSchedule | undefined> {
  const [row] = await tx.query<ClaimedSchedule>(
    `${CLAIMED_SCHEDULES}
     AND s.workflow_id IN (SELECT q.workflow_id FROM schedule_fires q WHERE q.outcome = 'queued'
       AND NOT EXISTS (SELECT FROM schedule_fires f JOIN executions e ON e.id = f.execution_id
         WHERE f.workflow_id = q.workflow_id AND f.node_id IS NOT DISTINCT FROM q.node_id AND f.is_open
           AND e.status IN ('queued', 'running', 'waiting_async')))
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

/** How many fires of a trigger have an unfinished execution, and how many are queued. */
export async function countUnfinishedFires(
  tx: Queryable,
  workflowId: number,
  nodeId: string | null,
): Promise<{ open: number; queued: number }> {
  const [row] = await tx.query<{ open: number; queued: number }>(
    `SELECT (SELECT count(*) FROM schedule_fires
        WHERE workflow_id = $1 AND is_open AND node_id IS NOT DISTINCT FROM $2) AS open,
       (SELECT count(*) FROM schedule_fires
        WHERE workflow_id = $1 AND outcome = 'queued' AND node_id IS NOT DISTINCT FROM $2) AS queued`,
    [workflowId, nodeId],
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
  5,
);

/** The trigger that fires belong to. */
export interface FiringTrigger {
  /** Null for the workflow's only one. */
  readonly nodeId: string | null;
  /** Index among the workflow's schedules. */
  readonly place: number;
}

/**
 * Records fires; returns the times of those not recorded before. A fire is recorded once because its time is unique, so those of several
 * triggers are stored a microsecond apart.
 */
export async function insertFires(
  tx: Queryable,
  schedule: Pick<ClaimedSchedule, 'workflow_id' | 'organisation_id'>,
  { nodeId, place }: FiringTrigger,
  fires: readonly NewFire[],
): Promise<Date[]> {
  const rows = await tx.query<{ fire_time: Date }>(
    `INSERT INTO schedule_fires (workflow_id, organisation_id, node_id, ${FIRES.list()}, is_open)
     SELECT $1, $2, $3, f.fire_time + $4::integer * interval '1 microsecond', f.fire_number, f.is_missed, f.outcome, f.reason,
       f.execution_id, f.outcome = 'started'
     FROM ${FIRES.sql} AS f (${FIRES.list()})
     ON CONFLICT (workflow_id, fire_time) DO NOTHING
     RETURNING date_trunc('milliseconds', fire_time) AS fire_time`,
    [schedule.workflow_id, schedule.organisation_id, nodeId, place, ...FIRES.values(fires)],
  );
  return rows.map((row) => row.fire_time);
}

/** Sets when a locked schedule fires next, and how often its first trigger has fired. @param definition JSON text */
export async function advanceSchedule(
  tx: Queryable,
  workflowId: number,
  definition: string,
  next: { readonly fireTime: Date; readonly dueAt: Date } | null,
  fireCount: number,
): Promise<void> {
  await tx.query(
    `UPDATE schedules SET definition = $2::json, next_fire_time = $3, next_fire_at = $4, fire_count = $5 WHERE workflow_id = $1`,
    [workflowId, definition, next?.fireTime ?? null, next?.dueAt ?? null, fireCount],
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
  readonly node_id: string | null;
  readonly fire_time: Date;
  readonly fire_number: number;
  readonly is_missed: boolean;
}

/** The fire of a locked schedule that has been queued the longest, of a trigger with nothing open. */
export async function findFirstQueued(tx: Queryable, workflowId: number): Promise<QueuedFire | undefined> {
  const [row] = await tx.query<QueuedFire>(
    `SELECT node_id, date_trunc('milliseconds', fire_time) AS fire_time, fire_number, is_missed FROM schedule_fires q
     WHERE workflow_id = $1 AND outcome = 'queued' AND NOT EXISTS (SELECT FROM schedule_fires f
       WHERE f.workflow_id = q.workflow_id AND f.node_id IS NOT DISTINCT FROM q.node_id AND f.is_open)
     ORDER BY fire_time LIMIT 1`,
    [workflowId],
  );
  return row;
}

/** Records that a queued fire was started after all. */
export async function startQueuedFire(
  tx: Queryable,
  workflowId: number,
  { node_id: nodeId, fire_time: fireTime }: QueuedFire,
  executionId: number,
): Promise<void> {
  await tx.query(
    `UPDATE schedule_fires SET outcome = 'started', execution_id = $3, is_open = true
     WHERE workflow_id = $1 AND date_trunc('milliseconds', fire_time) = $2 AND node_id IS NOT DISTINCT FROM $4
       AND outcome = 'queued'`,
    [workflowId, fireTime, executionId, nodeId],
  );
}

/** When the next schedule is due; null if none is. */
export async function readNextDue(db: Queryable): Promise<Date | null> {
  const [row] = await db.query<{ at: Date | null }>(
    `SELECT min(next_fire_at) AS at FROM schedules WHERE NOT ${ORGANISATION_PAUSED}`,
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
