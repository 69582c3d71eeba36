import type { WorkflowStatus } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';
import type { Flow, JsonText } from '@millrace/engine';

/** A workflow as lists show it. */
export interface WorkflowRow {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly status: WorkflowStatus;
  readonly tags: readonly string[];
  readonly is_test_mode: boolean;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** A workflow with its saved version. */
export interface WorkflowDetailRow extends WorkflowRow {
  /** JSON text as stored. */
  readonly flow_data: JsonText<Flow>;
  /** Type of the saved version's first trigger node; null if a draft has none yet. */
  readonly trigger_type: string | null;
  /** Types of the other triggers, each once. */
  readonly other_triggers: readonly string[];
  readonly webhook_hash: string;
}

export interface VersionRow {
  readonly version: number;
  readonly created_at: Date;
  readonly restored_from: number | null;
}

/** One version with its content. */
export interface VersionDetailRow extends VersionRow {
  /** JSON text as stored. */
  readonly flow_data: JsonText<Flow>;
}

export interface NewWorkflow {
  readonly organisationId: number;
  readonly name: string;
  readonly description: string;
  readonly status: WorkflowStatus;
  readonly tags: readonly string[];
  readonly isTestMode: boolean;
  readonly triggerType: string | null;
  readonly otherTriggers: readonly string[];
  readonly webhookHash: string;
  /** JSON text. */
  readonly flowData: JsonText<Flow>;
  /** `api_keys.id` of the saving key; null for a user or the operator. */
  readonly apiKeyId: number | null;
  /** `users.id` of the saving user, if signed in. */
  readonly userId?: number | null;
  /** None, or no longer there: in no folder. */
  readonly folderId?: number | null;
  /** The template it was made from, if any. */
  readonly templateId?: string | null;
}

/** Stores a workflow and its version 1. */
export async function insertWorkflow(tx: Queryable, workflow: NewWorkflow): Promise<WorkflowDetailRow> {
  const row = await queryRow<WorkflowDetailRow>(
    tx,
    `WITH w AS (
       INSERT INTO workflows (organisation_id, name, description, status, tags, is_test_mode, version, trigger_type,
         webhook_hash, other_triggers, folder_id, template_id, created_at, updated_at)
       VALUES ($1, $2, $3, $4, $5, $6, 1, $7, $8, $14,
         (SELECT id FROM workflow_folders WHERE organisation_id = $1 AND id = $12 FOR KEY SHARE), $13,
         date_trunc('milliseconds', now()), date_trunc('milliseconds', now()))
       RETURNING *
     ), v AS (
       INSERT INTO workflow_versions (workflow_id, version, organisation_id, flow_data, api_key_id, user_id, created_at)
       SELECT w.id, 1, w.organisation_id, $9::json, $10, $11, w.created_at FROM w
       RETURNING flow_data
     )
     SELECT w.id, w.name, w.description, w.status, w.tags, w.is_test_mode, w.version, w.created_at, w.updated_at,
       w.trigger_type, w.other_triggers, w.webhook_hash, v.flow_data
     FROM w, v`,
    [
      workflow.organisationId,
      workflow.name,
      workflow.description,
      workflow.status,
      workflow.tags,
      workflow.isTestMode,
      workflow.triggerType,
      workflow.webhookHash,
      workflow.flowData,
      workflow.apiKeyId,
      workflow.userId ?? null,
      workflow.folderId ?? null,
      workflow.templateId ?? null,
      workflow.otherTriggers,
    ],
  );
  return row;
}

/** A workflow with its saved version, or undefined. */
export async function findWorkflow(
  tx: Queryable,
  organisationId: number,
  id: number,
): Promise<WorkflowDetailRow | undefined> {
  const [row] = await tx.query<WorkflowDetailRow>(
    `SELECT w.id, w.name, w.description, w.status, w.tags, w.is_test_mode, w.version, w.created_at, w.updated_at,
       w.trigger_type, w.other_triggers, w.webhook_hash, v.flow_data
     FROM workflows w JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = w.version
     WHERE w.organisation_id = $1 AND w.id = $2`,
    [organisationId, id],
  );
  return row;
}

/** Locks a workflow until the transaction ends. Returns false if it doesn't exist. */
export async function lockWorkflow(tx: Queryable, organisationId: number, id: number): Promise<boolean> {
  const rows = await tx.query(
    'SELECT id FROM workflows WHERE organisation_id = $1 AND id = $2 FOR NO KEY UPDATE',
    [organisationId, id],
  );
  return rows.length === 1;
}

/** The status, which stays until the transaction ends; undefined if the workflow doesn't exist. */
export async function lockStatus(
  tx: Queryable,
  organisationId: number,
  id: number,
): Promise<WorkflowStatus | undefined> {
  const [row] = await tx.query<{ status: WorkflowStatus }>(
    'SELECT status FROM workflows WHERE organisation_id = $1 AND id = $2 FOR SHARE',
    [organisationId, id],
  );
  return row?.status;
}

/** Stores a workflow's new state. The update time never repeats, because entity tags are derived from it. */
export async function updateWorkflow(tx: Queryable, row: WorkflowDetailRow): Promise<WorkflowDetailRow> {
  const stored = await queryRow<{ updated_at: Date }>(
    tx,
    `UPDATE workflows SET name = $2, description = $3, status = $4, tags = $5, is_test_mode = $6, version = $7,
       trigger_type = $8, other_triggers = $9,
       updated_at = greatest(date_trunc('milliseconds', now()), updated_at + interval '1 millisecond')
     WHERE id = $1
     RETURNING updated_at`,
    [
      row.id,
      row.name,
      row.description,
      row.status,
      row.tags,
      row.is_test_mode,
      row.version,
      row.trigger_type,
      row.other_triggers,
    ],
  );
  return { ...row, ...stored };
}

export interface NewVersion {
  readonly workflowId: number;
  readonly version: number;
  readonly organisationId: number;
  /** JSON text. */
  readonly flowData: JsonText<Flow>;
  readonly apiKeyId: number | null;
  readonly userId: number | null;
  readonly restoredFrom: number | null;
  /** Its author's message about it. */
  readonly message: string | null;
}

/** Appends a version to a workflow's history; the workflow must be locked. */
export async function insertVersion(tx: Queryable, version: NewVersion): Promise<void> {
  await tx.query(
    `INSERT INTO workflow_versions (workflow_id, version, organisation_id, flow_data, api_key_id, user_id, restored_from,
       message, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, date_trunc('milliseconds', now()))`,
    [
      version.workflowId,
      version.version,
      version.organisationId,
      version.flowData,
      version.apiKeyId,
      version.userId,
      version.restoredFrom,
      version.message,
    ],
  );
}

/** An organisation's next workflows, newest first, below an id. */
export async function listWorkflows(
  tx: Queryable,
  organisationId: number,
  below: number,
  count: number,
): Promise<WorkflowRow[]> {
  return tx.query<WorkflowRow>(
    `SELECT id, name, description, status, tags, is_test_mode, version, created_at, updated_at
     FROM workflows WHERE organisation_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
    [organisationId, below, count],
  );
}

/** Like {@link listWorkflows} for one status: a separate statement so that it uses its own index. */
export async function listWorkflowsByStatus(
  tx: Queryable,
  organisationId: number,
  status: WorkflowStatus,
  below: number,
  count: number,
): Promise<WorkflowRow[]> {
  return tx.query<WorkflowRow>(
    `SELECT id, name, description, status, tags, is_test_mode, version, created_at, updated_at
     FROM workflows WHERE organisation_id = $1 AND status = $2 AND id < $3 ORDER BY id DESC LIMIT $4`,
    [organisationId, status, below, count],
  );
}

/** The next saved versions of a workflow, newest first, below a version. */
export async function listVersions(
  tx: Queryable,
  organisationId: number,
  workflowId: number,
  below: number,
  count: number,
): Promise<VersionRow[]> {
  return tx.query<VersionRow>(
    `SELECT version, created_at, restored_from FROM workflow_versions
     WHERE organisation_id = $1 AND workflow_id = $2 AND version < $3 AND version > 0
     ORDER BY version DESC LIMIT $4`,
    [organisationId, workflowId, below, count],
  );
}

/** One version of a workflow, or undefined. */
export async function findVersion(
  tx: Queryable,
  organisationId: number,
  workflowId: number,
  version: number,
): Promise<VersionDetailRow | undefined> {
  const [row] = await tx.query<VersionDetailRow>(
    `SELECT version, created_at, restored_from, flow_data FROM workflow_versions
     WHERE organisation_id = $1 AND workflow_id = $2 AND version = $3`,
    [organisationId, workflowId, version],
  );
  return row;
}
