import type { Flow, JsonObject } from '@millrace/engine';
import type { WorkflowDetailRow } from '../workflows/store.ts';
import { triggersIn } from '../workflows/trigger-types.ts';

export const WEBHOOK_TRIGGER = 'trigger.webhook';
export const FORM_TRIGGER = 'trigger.form';
export const CHAT_TRIGGER = 'trigger.chat';

/** A trigger with an address: its node, and its settings as they are written. */
export interface AddressedTrigger {
  readonly nodeId: string;
  readonly config: JsonObject;
}

/** A flow's triggers of a type, in its order. */
export function triggersOfType({ nodes }: Flow, type: string): readonly AddressedTrigger[] {
  return nodes.flatMap((node) =>
    node.type === type ? [{ nodeId: node.id, config: node.data?.config ?? {} }] : [],
  );
}

type State = Pick<WorkflowDetailRow, 'status' | 'trigger_type' | 'other_triggers'>;

/** Why calls to its address don't start a workflow that has the right trigger; null if they do. */
function statusClosedBecause({ status }: State): 'workflow_inactive' | 'workflow_archived' | null {
  if (status === 'inactive') return 'workflow_inactive';
  return status === 'archived' ? 'workflow_archived' : null;
}

/** Why webhook calls don't start a workflow; null if they do. */
export function webhookClosedBecause(
  row: State,
): 'no_webhook_trigger' | 'workflow_inactive' | 'workflow_archived' | null {
  return triggersIn(row).includes(WEBHOOK_TRIGGER) ? statusClosedBecause(row) : 'no_webhook_trigger';
}

/** Why form submissions don't start a workflow; null if they do. */
export function formClosedBecause(
  row: State,
): 'no_form_trigger' | 'workflow_inactive' | 'workflow_archived' | null {
  return triggersIn(row).includes(FORM_TRIGGER) ? statusClosedBecause(row) : 'no_form_trigger';
}

/** Why chat messages don't start a workflow; null if they do. */
export function chatClosedBecause(
  row: State,
): 'no_chat_trigger' | 'workflow_inactive' | 'workflow_archived' | null {
  return triggersIn(row).includes(CHAT_TRIGGER) ? statusClosedBecause(row) : 'no_chat_trigger';
}

/** Why no external call can become a workflow's sample; null if one can. */
export function samplesClosedBecause(row: State): ReturnType<typeof webhookClosedBecause> {
  const types = triggersIn(row);
  const isPage = types.includes(FORM_TRIGGER) || types.includes(CHAT_TRIGGER);
  return isPage ? statusClosedBecause(row) : webhookClosedBecause(row);
}
