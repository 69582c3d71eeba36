import type { Queryable } from '@millrace/database/database';

/** Ids of one organisation with one workflow (an empty graph, version 1). */
export interface WorkflowIds {
  readonly organisationId: number;
  readonly workflowId: number;
}

/** Inserts an organisation with one workflow, using plain statements without any feature code. */
export async function insertWorkflow(db: Queryable, organisationName: string): Promise<WorkflowIds> {
  const [organisation] = await db.query<{ id: number }>(
    'INSERT INTO organisations (name) VALUES ($1) RETURNING id',
    [organisationName],
  );
  const organisationId = organisation?.id ?? 0;
  const [workflow] = await db.query<{ id: number }>(
    `WITH workflow AS (
       INSERT INTO workflows (organisation_id, name, status, version, webhook_hash)
       VALUES ($1::bigint, 'sample', 'active', 1, rpad('', 35, 'x') || lpad($1::bigint::text, 8, '0')) RETURNING id
     )
     INSERT INTO workflow_versions (workflow_id, version, organisation_id, flow_data)
     SELECT id, 1, $1::bigint, '{"nodes": [], "edges": []}' FROM workflow RETURNING workflow_id AS id`,
    [organisationId],
  );
  return { organisationId, workflowId: workflow?.id ?? 0 };
}

/** Inserts a queued execution and returns its id. */
export async function insertExecution(
  db: Queryable,
  { organisationId, workflowId }: WorkflowIds,
): Promise<number> {
  const [row] = await db.query<{ id: number }>(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name, is_test_mode, input)
     VALUES ($1, $2, 1, 'queued', 'api', 'sample', false, '{}') RETURNING id`,
    [organisationId, workflowId],
  );
  return row?.id ?? 0;
}
