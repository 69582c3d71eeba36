import type { Queryable } from '@millrace/database/database';

/** Someone's unsaved changes to a workflow. */
export interface DraftRow {
  /** JSON text as stored. */
  readonly flow_data: string;
  readonly base_version: number;
  readonly revision: number;
  readonly updated_at: Date;
}

/** One person's draft; row-level security limits it to the organisation. */
export async function findDraft(
  tx: Queryable,
  workflowId: number,
  userId: number,
): Promise<DraftRow | undefined> {
  const [row] = await tx.query<DraftRow>(
    `SELECT flow_data, base_version, revision, updated_at FROM workflow_drafts
     WHERE workflow_id = $1 AND user_id = $2`,
    [workflowId, userId],
  );
  return row;
}

export interface DraftChange {
  readonly organisationId: number;
  readonly workflowId: number;
  readonly userId: number;
  /** JSON text. */
  readonly flowData: string;
  readonly baseVersion: number;
  /** Revision of the draft it is based on; 0 if there was none. */
  readonly revision: number;
}

export type StoredDraft = Pick<DraftRow, 'revision' | 'updated_at'>;

/** Creates a draft. Undefined if one already exists. */
export async function insertDraft(tx: Queryable, draft: DraftChange): Promise<StoredDraft | undefined> {
  const [row] = await tx.query<StoredDraft>(
    `INSERT INTO workflow_drafts (organisation_id, workflow_id, user_id, flow_data, base_version, revision)
     VALUES ($1, $2, $3, $4::json, $5, nextval('draft_revisions'))
     ON CONFLICT (workflow_id, user_id) DO NOTHING RETURNING revision, updated_at`,
    [draft.organisationId, draft.workflowId, draft.userId, draft.flowData, draft.baseVersion],
  );
  return row;
}

/** Updates a draft. Undefined if it is no longer at that revision. */
export async function updateDraft(tx: Queryable, draft: DraftChange): Promise<StoredDraft | undefined> {
  const [row] = await tx.query<StoredDraft>(
    `UPDATE workflow_drafts SET flow_data = $3::json, base_version = $4, revision = nextval('draft_revisions'),
       updated_at = date_trunc('milliseconds', now())
     WHERE workflow_id = $1 AND user_id = $2 AND revision = $5 RETURNING revision, updated_at`,
    [draft.workflowId, draft.userId, draft.flowData, draft.baseVersion, draft.revision],
  );
  return row;
}

/** Deletes a draft; if a revision is passed, only at that revision. Returns false if there was none to delete. */
export async function deleteDraft(
  tx: Queryable,
  workflowId: number,
  userId: number,
  revision: number | null = null,
): Promise<boolean> {
  const rows = await tx.query(
    `DELETE FROM workflow_drafts WHERE workflow_id = $1 AND user_id = $2 AND ($3::bigint IS NULL OR revision = $3)
     RETURNING revision`,
    [workflowId, userId, revision],
  );
  return rows.length > 0;
}
