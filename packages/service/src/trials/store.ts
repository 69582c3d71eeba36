import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';

/** Stores the flow of a trial and returns its number, which is negative and never reused. */
export async function insertTrial(
  tx: Queryable,
  trial: {
    readonly organisationId: number;
    readonly workflowId: number;
    readonly userId: number;
    /** JSON text. */
    readonly flowData: string;
  },
): Promise<number> {
  const row = await queryRow<{ version: number }>(
    tx,
    `INSERT INTO workflow_versions (workflow_id, version, organisation_id, flow_data, user_id)
     VALUES ($1, nextval('trial_versions'), $2, $3::json, $4) RETURNING version`,
    [trial.workflowId, trial.organisationId, trial.flowData, trial.userId],
  );
  return row.version;
}

/** Deletes the flows of trials whose last execution has been deleted. */
export async function pruneTrials(tx: Queryable, limit: number): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM workflow_versions v USING (
       SELECT workflow_id, version FROM workflow_versions t
       WHERE t.version < 0 AND NOT EXISTS (SELECT FROM executions e
         WHERE e.workflow_id = t.workflow_id AND e.workflow_version = t.version AND e.workflow_version < 0)
       ORDER BY created_at LIMIT $1
     ) old
     WHERE v.workflow_id = old.workflow_id AND v.version = old.version
     RETURNING v.version`,
    [limit],
  );
  return rows.length;
}
