import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/values/json';
import type { NodeRecord } from './execution.ts';
import { successRecord } from './execution.ts';
import { DEFAULT_HANDLE } from './node-result.ts';
import type { Plan, PlanNode } from './plan.ts';

/** What a trigger starts an execution with. */
export interface TriggerCall {
  /** The body of a call, or what a schedule or form passes on. */
  readonly data: JsonValue;
  /** What it keeps of a call besides the body, read as `trigger.request`; absent for nothing. */
  readonly request?: JsonValue | undefined;
}

/**
 * The records that an execution starts with: its trigger's, unless that is the plan's own trigger and keeps nothing but the data.
 */
export function startRecords(
  plan: Plan,
  trigger: PlanNode,
  { data, request }: TriggerCall,
  atMs: number,
): readonly NodeRecord[] {
  if (trigger === plan.trigger && request === undefined) return [];
  const progress = { nodeId: trigger.id, attempts: 1, startedAtMs: atMs, consumedAiTokens: 0 };
  const output: JsonObject = request === undefined ? { data } : { data, request };
  return [successRecord(progress, output, [DEFAULT_HANDLE], atMs)];
}

/** The trigger that started an execution with these records. */
export function startedBy(plan: Plan, records: readonly NodeRecord[]): PlanNode {
  return recordedTrigger(plan, records) ?? plan.trigger;
}

/** The trigger whose success is among the records; undefined if none is. */
export function recordedTrigger(plan: Plan, records: readonly NodeRecord[]): PlanNode | undefined {
  const { triggers, trigger } = plan;
  if (triggers.length > 1) {
    const byId = new Map(triggers.map((each) => [each.id, each]));
    for (const { nodeId, status } of records) {
      const found = status === 'success' ? byId.get(nodeId) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return records.some(({ nodeId, status }) => status === 'success' && nodeId === trigger.id)
    ? trigger
    : undefined;
}

/** The trigger with this id; undefined if the plan has none. */
export function triggerAt(plan: Plan, nodeId: string): PlanNode | undefined {
  return plan.triggers.find(({ id }) => id === nodeId);
}

/** What the trigger of an execution kept besides the body, and when; null if nothing. */
export function requestIn(
  plan: Plan,
  records: readonly NodeRecord[],
): { readonly request: JsonValue; readonly atMs: number } | null {
  const { id } = startedBy(plan, records);
  const record = records.find(({ nodeId }) => nodeId === id);
  if (record?.status !== 'success' || !isJsonObject(record.output)) return null;
  const { request } = record.output;
  return request === undefined ? null : { request, atMs: record.startedAtMs };
}
