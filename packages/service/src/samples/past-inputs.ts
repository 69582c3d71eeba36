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

/** Which inputs to list. */
export interface PastInputsWanted {
  readonly organisationId: number;
  readonly workflowId: number;
  /** Larger ones are listed without their content. */
  readonly maxBytes: number;
  readonly count: number;
  /** An execution listed in any case; null for none. */
  readonly also: number | null;
}

/** Inputs of a workflow's last executions, latest first. */
export async function listPastInputs(tx: Queryable, wanted: PastInputsWanted): Promise<PastInputRow[]> {
  const { organisationId, workflowId, maxBytes, count, also } = wanted;
  return tx.query<PastInputRow>(
    `SELECT id, status, display_name, trigger_type, created_at, octet_length(input::text) AS input_bytes,
       CASE WHEN octet_length(input::text) <= $3 THEN input END AS input
     FROM executions WHERE id IN (
       (SELECT id FROM executions WHERE workflow_id = $2 AND organisation_id = $1 ORDER BY id DESC LIMIT $4)
       UNION ALL SELECT $5::bigint
     ) AND workflow_id = $2 AND organisation_id = $1 ORDER BY id DESC`,
    [organisationId, workflowId, maxBytes, count, also],
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
