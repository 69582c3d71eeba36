import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';
import type { JsonText, StoredError } from '@millrace/engine';
import { NEXT_HELD_MS } from './held-start-statements.ts';
import { DUE, QUEUED, WAITING } from './lease-statements.ts';

/** Work for a worker; checked in every claiming round. */
export interface WaitingWork {
  /** {@link claimExecutions} could claim something, if there is a slot. False saves an idle worker that large statement. */
  readonly has_claimable: boolean;
  /** Work of a workflow with a concurrency limit could be claimed if there is a slot. */
  readonly has_limited: boolean;
  /** Starts wait for a decision: whether they are skipped, or what they cancel. */
  readonly has_undecided: boolean;
  /** Ended executions left follow-up work. */
  readonly has_follow_ups: boolean;
  readonly has_failures: boolean;
  /** How long until a held start may be released; 0 or less: now. Null if none is held. */
  readonly next_held_ms: number | null;
  /** There is none of this, no execution runs, and none waits for its workflow's concurrency limit. */
  readonly is_quiet: boolean;
  /** How long until the next wait without such a limit is over; Infinity if all wait for a signal, null if there is none. */
  readonly next_wake_ms: number | null;
}

/**
 * An index keeps the entries of all executions that were in it since the last vacuum, and PostgreSQL may collect them all to find one. So only lost workers
 * are asked for what they ran, and whether anything runs at all is only asked if there is nothing to do.
 */
export async function lookForWork(db: Queryable): Promise<WaitingWork> {
  const row = await queryRow<WaitingWork>(
    db,
    `SELECT f.*, NOT (has_limited OR has_claimable OR has_undecided OR has_follow_ups OR has_failures OR next_held_ms IS NOT NULL)
       AND NOT EXISTS (SELECT FROM executions WHERE status = 'running')
       AND NOT EXISTS (SELECT FROM executions WHERE status = 'waiting_async' AND max_concurrency IS NOT NULL) AS is_quiet
     FROM (
       SELECT EXISTS (
           SELECT FROM executions
           WHERE status = 'queued' AND max_concurrency IS NOT NULL AND on_limit IS NULL AND held_until IS NULL)
           OR EXISTS (SELECT FROM executions
             WHERE status = 'waiting_async' AND max_concurrency IS NOT NULL AND wake_at <= now()) AS has_limited,
         EXISTS (SELECT FROM executions WHERE ${QUEUED})
           OR EXISTS (SELECT FROM executions WHERE ${DUE})
           OR EXISTS (SELECT FROM workers w
             CROSS JOIN LATERAL (SELECT FROM executions WHERE worker_id = w.id AND status = 'running' LIMIT 1) e
             WHERE w.lease_expires_at <= clock_timestamp()) AS has_claimable,
         EXISTS (SELECT FROM executions WHERE status = 'queued' AND on_limit IS NOT NULL AND held_until IS NULL) AS has_undecided,
         EXISTS (SELECT FROM execution_follow_ups WHERE kind IN ('tell_parent', 'cancel_children')) AS has_follow_ups,
         EXISTS (SELECT FROM execution_follow_ups
           WHERE kind IN ('start_error_workflow', 'start_default_error_workflow')) AS has_failures,
         ${NEXT_HELD_MS} AS next_held_ms,
         -- Converted separately: PostgreSQL before 17 can't subtract from infinity.
         (SELECT (extract(epoch FROM min(wake_at)) - extract(epoch FROM now())) * 1000
           FROM executions WHERE ${WAITING})::double precision AS next_wake_ms
       OFFSET 0
     ) f`,
    [],
    'look_for_work',
  );
  return row;
}

/**
 * Signals the parents of up to `limit` ended children, and drops the children whose parent has ended. Locks the parents in
 * id order, and no child. `taken` counts the children; it is repeated in each row, and there is always at least one.
 */
export async function signalParents(
  db: Queryable,
  limit: number,
): Promise<{ taken: number; id: number | null }[]> {
  return db.query(
    `WITH due AS MATERIALIZED (
       SELECT execution_id FROM execution_follow_ups WHERE kind = 'tell_parent'
       ORDER BY execution_id LIMIT $1 FOR UPDATE SKIP LOCKED
     ), child AS MATERIALIZED (
       SELECT id, coalesce(started_as, id) AS known_id, status, parent_execution_id AS parent_id, parent_node_id, parent_iteration,
         row_number() OVER (PARTITION BY parent_execution_id ORDER BY id) AS place
       FROM executions WHERE id IN (SELECT execution_id FROM due)
     ), counted AS MATERIALIZED (
       SELECT parent_id, count(*)::integer AS signals FROM child GROUP BY parent_id
     ), parent AS MATERIALIZED (
       SELECT id FROM executions WHERE id IN (SELECT parent_id FROM counted) AND completed_at IS NULL
       ORDER BY id FOR NO KEY UPDATE
     ), signalled AS (
       UPDATE executions e SET signal_seq = e.signal_seq + c.signals,
         wake_at = CASE WHEN e.status = 'waiting_async' THEN least(e.wake_at, now()) END
       FROM parent p JOIN counted c ON c.parent_id = p.id
       WHERE e.id = p.id AND e.completed_at IS NULL
       RETURNING e.id, e.organisation_id, e.status, e.signal_seq - c.signals AS seq_before
     ), stored AS (
       INSERT INTO execution_signals (execution_id, seq, organisation_id, node_id, iteration, payload)
       SELECT t.id, t.seq_before + c.place, t.organisation_id, c.parent_node_id, c.parent_iteration,
         json_build_object('execution_id', c.known_id, 'status', c.status)
       FROM signalled t JOIN child c ON c.parent_id = t.id
     ), done AS (
       DELETE FROM execution_follow_ups WHERE kind = 'tell_parent' AND execution_id IN (SELECT execution_id FROM due)
     )
     SELECT d.taken, t.id, CASE t.status WHEN 'waiting_async' THEN pg_notify('millrace_queue', '')
         WHEN 'running' THEN pg_notify('millrace_executions', t.id || '+') END
     FROM (SELECT count(*) AS taken FROM due) d LEFT JOIN signalled t ON true`,
    [limit],
  );
}

/** Picks an ended execution whose children are to be cancelled, and locks it until the end of the transaction. */
export async function lockEndedParent(tx: Queryable): Promise<{ execution_id: number }[]> {
  return tx.query(
    `SELECT execution_id FROM execution_follow_ups WHERE kind = 'cancel_children'
     ORDER BY execution_id LIMIT 1 FOR UPDATE SKIP LOCKED`,
  );
}

/** Cancels up to `limit` of the children the execution was waiting for. */
export async function cancelChildren(
  tx: Queryable,
  parentId: number,
  limit: number,
): Promise<{ id: number }[]> {
  return tx.query(
    `WITH child AS MATERIALIZED (
       SELECT id, status = 'running' AND max_concurrency IS NOT NULL AS frees_place FROM executions
       WHERE parent_execution_id = $1 AND parent_waits AND completed_at IS NULL
       ORDER BY id LIMIT $2 FOR NO KEY UPDATE
     )
     UPDATE executions e SET status = 'cancelled', worker_id = NULL, wake_at = NULL,
       completed_at = greatest(date_trunc('milliseconds', clock_timestamp()), e.started_at, e.created_at)
     FROM child c WHERE e.id = c.id AND e.completed_at IS NULL
     RETURNING e.id, pg_notify('millrace_executions', e.id || '!'),
       CASE WHEN c.frees_place THEN pg_notify('millrace_queue', '') END`,
    [parentId, limit],
  );
}

/** Returns no row if another process has already done it or is doing it. */
export async function takeFollowUp(
  tx: Queryable,
  kind: 'cancel_children' | FailureRow['kind'],
  executionId: number,
): Promise<{ execution_id: number }[]> {
  return tx.query(
    `DELETE FROM execution_follow_ups WHERE (kind, execution_id) IN (
       SELECT kind, execution_id FROM execution_follow_ups WHERE kind = $1 AND execution_id = $2
       FOR UPDATE SKIP LOCKED)
     RETURNING execution_id`,
    [kind, executionId],
  );
}

/** A failed execution, and its error workflow in its current state. */
export interface FailureRow {
  /** Whether its own workflow names the error workflow, or its organisation does for all that name none. */
  readonly kind: 'start_error_workflow' | 'start_default_error_workflow';
  readonly id: number;
  readonly organisation_id: number;
  readonly workflow_id: number;
  readonly workflow_name: string;
  readonly workflow_version: number;
  readonly display_name: string;
  readonly trigger_type: string;
  readonly is_test_mode: boolean;
  readonly depth: number;
  /** JSON text. */
  readonly input: string;
  /** JSON text of `{code, message, node_id}`. */
  readonly error: JsonText<StoredError>;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly completed_at: Date;
  /** Null: the organisation has no default any more. */
  readonly error_workflow_id: number | null;
  /** Null if the organisation has no such workflow. */
  readonly target_id: number | null;
  readonly target_name: string;
  readonly target_status: 'draft' | 'active' | 'inactive' | 'archived';
  readonly target_version: number;
  readonly target_is_test_mode: boolean;
}

/** Failures whose error workflow hasn't been started yet, oldest first. */
export async function findFailures(db: Queryable, limit: number): Promise<FailureRow[]> {
  return db.query(
    `SELECT f.kind, e.id, e.organisation_id, e.workflow_id, w.name AS workflow_name, e.workflow_version, e.display_name,
       e.trigger_type, e.is_test_mode, e.depth, e.input, e.error, e.created_at, e.started_at, e.completed_at,
       n.error_workflow_id, t.id AS target_id, t.name AS target_name, t.status AS target_status,
       t.version AS target_version, t.is_test_mode AS target_is_test_mode
     FROM execution_follow_ups f JOIN executions e ON e.id = f.execution_id JOIN workflows w ON w.id = e.workflow_id
     LEFT JOIN organisation_settings s ON s.organisation_id = e.organisation_id
     CROSS JOIN LATERAL (SELECT CASE f.kind WHEN 'start_error_workflow' THEN e.error_workflow_id
       ELSE s.error_workflow_id END AS error_workflow_id) n
     LEFT JOIN workflows t ON t.id = n.error_workflow_id AND t.organisation_id = e.organisation_id
     WHERE f.kind IN ('start_error_workflow', 'start_default_error_workflow') ORDER BY f.execution_id LIMIT $1`,
    [limit],
  );
}
