import type { Flow, JsonObject } from '@millrace/engine';
import type { WorkflowDetailRow } from '../workflows/store.ts';

export const WEBHOOK_TRIGGER = 'trigger.webhook';
export const FORM_TRIGGER = 'trigger.form';
export const CHAT_TRIGGER = 'trigger.chat';

/** The settings of a flow's trigger of a type; `{}` if it has none. */
export function triggerConfigOf({ nodes }: Flow, type: string): JsonObject {
  return nodes.find((node) => node.type === type)?.data?.config ?? {};
}

/** The settings of a flow's webhook; `{}` if it has none. */
export function webhookConfigOf(flow: Flow): JsonObject {
  return triggerConfigOf(flow, WEBHOOK_TRIGGER);
}

type State = Pick<WorkflowDetailRow, 'status' | 'trigger_type'>;

/** Why nothing that comes to its address starts a workflow that has the right trigger; null if it does. */
function statusClosedBecause({ status }: State): 'workflow_inactive' | 'workflow_archived' | null {
  if (status === 'inactive') return 'workflow_inactive';
  return status === 'archived' ? 'workflow_archived' : null;
}

/** Why no call of its webhook starts a workflow; null if calls do. */
export function webhookClosedBecause(
  row: State,
): 'no_webhook_trigger' | 'workflow_inactive' | 'workflow_archived' | null {
  return row.trigger_type === WEBHOOK_TRIGGER ? statusClosedBecause(row) : 'no_webhook_trigger';
}

/** Why no submission of its form starts a workflow; null if submissions do. */
export function formClosedBecause(
  row: State,
): 'no_form_trigger' | 'workflow_inactive' | 'workflow_archived' | null {
  return row.trigger_type === FORM_TRIGGER ? statusClosedBecause(row) : 'no_form_trigger';
}

/** Why no message of its chat starts a workflow; null if messages do. */
export function chatClosedBecause(
  row: State,
): 'no_chat_trigger' | 'workflow_inactive' | 'workflow_archived' | null {
  return row.trigger_type === CHAT_TRIGGER ? statusClosedBecause(row) : 'no_chat_trigger';
}

/** Why nothing that comes from outside can become a workflow's sample; null if it can. */
export function samplesClosedBecause(row: State): ReturnType<typeof webhookClosedBecause> {
  const isPage = row.trigger_type === FORM_TRIGGER || row.trigger_type === CHAT_TRIGGER;
  return isPage ? statusClosedBecause(row) : webhookClosedBecause(row);
}
