import type { WorkflowDetailRow } from './store.ts';

/** The types of a workflow's triggers, the first one's first. */
export function triggersIn({
  trigger_type: first,
  other_triggers: others,
}: Pick<WorkflowDetailRow, 'trigger_type' | 'other_triggers'>): readonly string[] {
  return first === null ? others : [first, ...others];
}
