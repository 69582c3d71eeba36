import type { Queryable } from '@millrace/database/database';
import type { ExecutionStatus, Flow, JsonText, StoredError } from '@millrace/engine';

/** An execution in the strip of a workflow's most recent ones. */
export interface RecentRunRow {
  readonly id: number;
  readonly workflow_id: number;
  readonly workflow_version: number;
  readonly status: ExecutionStatus;
  readonly is_test_mode: boolean;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly completed_at: Date | null;
  /** JSON text of `{code, message, node_id}`; null unless failed. */
  readonly error: JsonText<StoredError> | null;
}

/**
 * The last executions of each of these workflows, latest first: reads that many index entries, however many there are. Which organisation a
 * workflow belongs to is checked outside: inside, PostgreSQL would expect both conditions to leave almost nothing, and sort all executions
 * of a workflow to find its last ones.
 */
export async function listRecentRuns(
  tx: Queryable,
  organisationId: number,
  workflowIds: readonly number[],
  count: number,
): Promise<RecentRunRow[]> {
  return tx.query<RecentRunRow>(
    `SELECT r.id, r.workflow_id, r.workflow_version, r.status, r.is_test_mode, r.created_at, r.started_at, r.completed_at,
       r.error
     FROM unnest($2::bigint[]) AS w (id) CROSS JOIN LATERAL (
       SELECT * FROM executions e WHERE e.workflow_id = w.id ORDER BY e.id DESC LIMIT $3
     ) r WHERE r.organisation_id = $1 ORDER BY r.id DESC`,
    [organisationId, workflowIds, count],
  );
}

const MAX_TAGS = 1_000;

/** Tags of workflows that aren't archived, in alphabetical order. */
export async function listTags(tx: Queryable, organisationId: number): Promise<string[]> {
  const rows = await tx.query<{ tag: string }>(
    `SELECT DISTINCT tag FROM workflows, unnest(tags) AS tag
     WHERE organisation_id = $1 AND status <> 'archived' ORDER BY tag LIMIT $2`,
    [organisationId, MAX_TAGS],
  );
  return rows.map((row) => row.tag);
}

/** Names of other people with drafts of a workflow, last changed first; those who left the organisation are omitted. */
export async function listOtherDrafts(
  tx: Queryable,
  workflowId: number,
  userId: number,
): Promise<{ readonly name: string; readonly updated_at: Date }[]> {
  return tx.query(
    `SELECT u.name, d.updated_at FROM workflow_drafts d JOIN users u ON u.id = d.user_id
     WHERE d.workflow_id = $1 AND d.user_id <> $2 AND EXISTS (SELECT FROM members m
       WHERE m.organisation_id = d.organisation_id AND m.email = u.email AND m.removed_at IS NULL)
     ORDER BY d.updated_at DESC LIMIT 20`,
    [workflowId, userId],
  );
}

/** A saved version with its author. */
export interface VersionItemRow {
  readonly version: number;
  readonly created_at: Date;
  readonly restored_from: number | null;
  readonly message: string | null;
  readonly pinned: boolean;
  readonly user_id: number | null;
  readonly user_name: string | null;
  readonly key_name: string | null;
}

/** The next saved versions of a workflow, or only pinned ones, newest first, below a version. */
export async function listVersionItems(
  tx: Queryable,
  organisationId: number,
  workflowId: number,
  { onlyPinned, below, count }: { onlyPinned: boolean; below: number; count: number },
): Promise<VersionItemRow[]> {
  return tx.query<VersionItemRow>(
    `SELECT v.version, v.created_at, v.restored_from, v.message, v.pinned, v.user_id, u.name AS user_name,
       k.name AS key_name
     FROM workflow_versions v LEFT JOIN users u ON u.id = v.user_id LEFT JOIN api_keys k ON k.id = v.api_key_id
     WHERE v.organisation_id = $1 AND v.workflow_id = $2 AND v.version > 0 AND v.version < $3
       AND (v.pinned OR NOT $5)
     ORDER BY v.version DESC LIMIT $4`,
    [organisationId, workflowId, below, count, onlyPinned],
  );
}

/** A saved version, or undefined. */
export async function findVersionItem(
  tx: Queryable,
  organisationId: number,
  workflowId: number,
  version: number,
): Promise<(VersionItemRow & { readonly flow_data: JsonText<Flow> }) | undefined> {
  const [row] = await tx.query<VersionItemRow & { readonly flow_data: JsonText<Flow> }>(
    `SELECT v.version, v.created_at, v.restored_from, v.message, v.pinned, v.user_id, u.name AS user_name,
       k.name AS key_name, v.flow_data
     FROM workflow_versions v LEFT JOIN users u ON u.id = v.user_id LEFT JOIN api_keys k ON k.id = v.api_key_id
     WHERE v.organisation_id = $1 AND v.workflow_id = $2 AND v.version = $3 AND v.version > 0`,
    [organisationId, workflowId, version],
  );
  return row;
}

/** Pins or unpins a saved version. Returns false if it doesn't exist or is already in that state. */
export async function setPinned(
  tx: Queryable,
  organisationId: number,
  workflowId: number,
  version: number,
  pinned: boolean,
): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE workflow_versions SET pinned = $4
     WHERE organisation_id = $1 AND workflow_id = $2 AND version = $3 AND version > 0 AND pinned <> $4
     RETURNING version`,
    [organisationId, workflowId, version, pinned],
  );
  return rows.length > 0;
}

/**
 * Blocks starts of a workflow until the transaction ends: an insert of an execution locks the version it runs, so it waits,
 * and finds the version missing if that is deleted.
 */
export async function lockVersions(tx: Queryable, workflowId: number): Promise<void> {
  await tx.query('SELECT version FROM workflow_versions WHERE workflow_id = $1 ORDER BY version FOR UPDATE', [
    workflowId,
  ]);
}

/** Whether a workflow has executions that haven't ended. */
export async function hasUnended(
  tx: Queryable,
  organisationId: number,
  workflowId: number,
): Promise<boolean> {
  const [row] = await tx.query<{ found: boolean }>(
    `SELECT EXISTS (SELECT FROM executions WHERE organisation_id = $1 AND workflow_id = $2
       AND status IN ('queued', 'running', 'waiting_async')) AS found`,
    [organisationId, workflowId],
  );
  return row?.found === true;
}

/** Deletes some of a workflow's ended executions, oldest first. Returns how many. */
export async function deleteEndedExecutions(
  tx: Queryable,
  workflowId: number,
  count: number,
): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM executions WHERE id IN (
       SELECT id FROM executions WHERE workflow_id = $1 AND completed_at IS NOT NULL ORDER BY id LIMIT $2)
     RETURNING id`,
    [workflowId, count],
  );
  return rows.length;
}

/** Deletes a workflow with everything that belongs to it. */
export async function deleteWorkflow(tx: Queryable, workflowId: number): Promise<void> {
  await tx.query('DELETE FROM workflows WHERE id = $1', [workflowId]);
}
