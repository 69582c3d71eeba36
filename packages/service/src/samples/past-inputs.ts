import type { Queryable } from '@millrace/database/database';

/** The input of an execution, to try again. */
export interface PastInputRow {
  readonly id: number;
  readonly status: string;
  readonly display_name: string;
  readonly trigger_type: string;
  readonly created_at: Date;
  readonly input_bytes: number;
  /** JSON text; null if it is too large. */
  readonly input: string | null;
}

/** Inputs of a workflow's last executions, latest first. */
export async function listPastInputs(
  tx: Queryable,
  organisationId: number,
  workflowId: number,
  maxBytes: number,
  count: number,
): Promise<PastInputRow[]> {
  return tx.query<PastInputRow>(
    `SELECT id, status, display_name, trigger_type, created_at, octet_length(input::text) AS input_bytes,
       CASE WHEN octet_length(input::text) <= $3 THEN input END AS input
     FROM executions WHERE workflow_id = $2 AND organisation_id = $1 ORDER BY id DESC LIMIT $4`,
    [organisationId, workflowId, maxBytes, count],
  );
}

/** The input of one execution of a workflow as JSON text, or undefined. */
export async function findPastInput(
  tx: Queryable,
  organisationId: number,
  workflowId: number,
  executionId: number,
): Promise<string | undefined> {
  const [row] = await tx.query<{ input: string }>(
    'SELECT input FROM executions WHERE id = $3 AND workflow_id = $2 AND organisation_id = $1',
    [organisationId, workflowId, executionId],
  );
  return row?.input;
}
