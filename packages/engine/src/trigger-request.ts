import type { NodeRecord } from './execution.ts';
import { successRecord } from './execution.ts';
import { isJsonObject, type JsonValue } from './json.ts';
import { DEFAULT_HANDLE } from './node-result.ts';
import type { Plan } from './plan.ts';

/** What a trigger keeps of a call. */
interface KeptCall {
  /** The body. */
  readonly data: JsonValue;
  /** Everything else, read as `trigger.request`. */
  readonly request: JsonValue;
}

/** The record of a trigger that keeps more of a call than its body; an execution starts with it. */
export function requestRecord(plan: Plan, { data, request }: KeptCall, atMs: number): NodeRecord {
  const progress = { nodeId: plan.trigger.id, attempts: 1, startedAtMs: atMs, consumedAiTokens: 0 };
  return successRecord(progress, { data, request }, [DEFAULT_HANDLE], atMs);
}

/** What the trigger of an execution kept besides the body, and when; null if nothing. */
export function requestIn(
  plan: Plan,
  records: readonly NodeRecord[],
): { readonly request: JsonValue; readonly atMs: number } | null {
  const record = records.find(({ nodeId }) => nodeId === plan.trigger.id);
  if (record?.status !== 'success' || !isJsonObject(record.output)) return null;
  const { request } = record.output;
  return request === undefined ? null : { request, atMs: record.startedAtMs };
}
