import type { Queryable } from '@millrace/database/database';

export interface PinRow {
  readonly node_id: string;
  /** JSON text as stored. */
  readonly output: string;
  readonly pinned_at: Date;
}

/** Whose pins of which workflow. */
export interface PinOwner {
  readonly organisationId: number;
  readonly workflowId: number;
  readonly userId: number;
}

/** One person's pins by node; row-level security limits them to the organisation. */
export async function listPins(tx: Queryable, { workflowId, userId }: PinOwner): Promise<PinRow[]> {
  return tx.query<PinRow>(
    `SELECT node_id, output, pinned_at FROM pinned_outputs
     WHERE workflow_id = $1 AND user_id = $2 ORDER BY node_id`,
    [workflowId, userId],
  );
}

/** Pins an output, replacing the previous one. @param output JSON text */
export async function putPin(tx: Queryable, owner: PinOwner, nodeId: string, output: string): Promise<void> {
  const { organisationId, workflowId, userId } = owner;
  await tx.query(
    `INSERT INTO pinned_outputs (organisation_id, workflow_id, user_id, node_id, output)
     VALUES ($1, $2, $3, $4, $5::json)
     ON CONFLICT (workflow_id, user_id, node_id) DO UPDATE SET output = EXCLUDED.output,
       pinned_at = EXCLUDED.pinned_at`,
    [organisationId, workflowId, userId, nodeId, output],
  );
}

/** Keeps the latest `count`: pins of nodes that no longer exist make room for others. */
export async function dropOldPins(tx: Queryable, owner: PinOwner, count: number): Promise<void> {
  await tx.query(
    `DELETE FROM pinned_outputs WHERE workflow_id = $1 AND user_id = $2 AND node_id IN (
       SELECT node_id FROM pinned_outputs WHERE workflow_id = $1 AND user_id = $2
       ORDER BY pinned_at DESC, node_id OFFSET $3)`,
    [owner.workflowId, owner.userId, count],
  );
}

/** Does nothing if it isn't pinned. */
export async function deletePin(tx: Queryable, owner: PinOwner, nodeId: string): Promise<void> {
  await tx.query('DELETE FROM pinned_outputs WHERE workflow_id = $1 AND user_id = $2 AND node_id = $3', [
    owner.workflowId,
    owner.userId,
    nodeId,
  ]);
}

/** Replaces all pins of one person. @param outputs JSON text by node id */
export async function replacePins(
  tx: Queryable,
  { organisationId, workflowId, userId }: PinOwner,
  outputs: ReadonlyMap<string, string>,
): Promise<void> {
  await tx.query('DELETE FROM pinned_outputs WHERE workflow_id = $1 AND user_id = $2', [workflowId, userId]);
  await tx.query(
    `INSERT INTO pinned_outputs (organisation_id, workflow_id, user_id, node_id, output)
     SELECT $1::bigint, $2::bigint, $3::bigint, node_id, output::json FROM unnest($4::text[], $5::text[]) AS p (node_id, output)
     ON CONFLICT (workflow_id, user_id, node_id) DO UPDATE SET output = EXCLUDED.output,
       pinned_at = EXCLUDED.pinned_at`,
    [organisationId, workflowId, userId, [...outputs.keys()], [...outputs.values()]],
  );
}
