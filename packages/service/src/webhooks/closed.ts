import type { Flow, JsonObject } from '@millrace/engine';
import type { WorkflowDetailRow } from '../workflows/store.ts';

export const WEBHOOK_TRIGGER = 'trigger.webhook';

/** The settings of a flow's webhook; `{}` if it has none. */
export function webhookConfigOf({ nodes }: Flow): JsonObject {
  return nodes.find((node) => node.type === WEBHOOK_TRIGGER)?.data?.config ?? {};
}

/** Why no call of its webhook starts a workflow; null if calls do. */
export function webhookClosedBecause({
  status,
  trigger_type: trigger,
}: Pick<WorkflowDetailRow, 'status' | 'trigger_type'>):
  | 'no_webhook_trigger'
  | 'workflow_inactive'
  | 'workflow_archived'
  | null {
  if (trigger !== WEBHOOK_TRIGGER) return 'no_webhook_trigger';
  if (status === 'inactive') return 'workflow_inactive';
  return status === 'archived' ? 'workflow_archived' : null;
}
