import type { Queryable } from '@millrace/database/database';
import type { JsonObject } from '@millrace/engine';
import { type AuditAction, type AuditEntry, insertAudit } from '@millrace/identity/audit/store';
import type { WorkflowDetailRow } from './store.ts';

/** Who does something with a workflow, and from where. */
export type RecordedBy = Pick<AuditEntry, 'organisationId' | 'by'>;

/** Records an action on a workflow, in the transaction that performs it. */
export async function recordWorkflowChange(
  tx: Queryable,
  by: RecordedBy,
  action: AuditAction,
  workflowId: number,
  details: JsonObject = {},
): Promise<void> {
  await insertAudit(tx, { ...by, action, details: { workflow_id: workflowId, ...details } });
}

/** An audit entry's details for a change: its members, the status before and after, and the version it created. */
export function changeDetails(before: WorkflowDetailRow, after: WorkflowDetailRow): JsonObject {
  const members = ['name', 'description', 'tags', 'is_test_mode'] as const;
  const changed: string[] = members.filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  const status = before.status === after.status ? {} : { from_status: before.status, status: after.status };
  if (before.version === after.version) return { changed, ...status };
  return { changed: [...changed, 'flow_data'], version: after.version, ...status };
}
