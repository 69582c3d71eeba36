import type { Queryable } from '@millrace/database/database';

/** What somebody has changed of a workflow and not saved. */
export interface DraftRow {
  /** JSON text as stored. */
  readonly flow_data: string;
  readonly base_version: number;
  readonly revision: number;
  readonly updated_at: Date;
}

/** The draft of one person; row-level security keeps to the organisation. */
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
  /** Of the draft it was made from; 0: there was none. */
  readonly revision: number;
}

export type StoredDraft = Pick<DraftRow, 'revision' | 'updated_at'>;

/** Begins a draft. Undefined: there is one. */
export async function insertDraft(tx: Queryable, draft: DraftChange): Promise<StoredDraft | undefined> {
  const [row] = await tx.query<StoredDraft>(
    `INSERT INTO workflow_drafts (organisation_id, workflow_id, user_id, flow_data, base_version, revision)
     VALUES ($1, $2, $3, $4::json, $5, nextval('draft_revisions'))
     ON CONFLICT (workflow_id, user_id) DO NOTHING RETURNING revision, updated_at`,
    [draft.organisationId, draft.workflowId, draft.userId, draft.flowData, draft.baseVersion],
  );
  return row;
}

/** Goes on with a draft. Undefined: it is not at that revision any more. */
export async function updateDraft(tx: Queryable, draft: DraftChange): Promise<StoredDraft | undefined> {
  const [row] = await tx.query<StoredDraft>(
    `UPDATE workflow_drafts SET flow_data = $3::json, base_version = $4, revision = nextval('draft_revisions'),
       updated_at = date_trunc('milliseconds', now())
     WHERE workflow_id = $1 AND user_id = $2 AND revision = $5 RETURNING revision, updated_at`,
    [draft.workflowId, draft.userId, draft.flowData, draft.baseVersion, draft.revision],
  );
  return row;
}

/** Ends a draft; with a revision only when it is still at that. False: there is none to end. */
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
