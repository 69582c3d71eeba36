import {
  type CompileResult,
  foldRecords,
  isFinalStatus,
  type JsonValue,
  type NodeRecord,
  type Plan,
  parseJson,
  recordedTrigger,
  recordsToKeep,
  requestIn,
  startRecords,
  triggerAt,
} from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import { parseChunks } from '@millrace/runtime/chunks';
import type { PlanCache } from '@millrace/runtime/plans';
import type { StartableWorkflow } from '@millrace/runtime/start-row';
import type { StartContent } from './startable.ts';
import { EXECUTION_STATUS_MESSAGES } from './status-messages.ts';
import type { RerunSource } from './store.ts';

/** @throws ApiError `execution_not_final` */
export function refuseUnended(source: RerunSource): void {
  if (isFinalStatus(source.status)) return;
  throw new ApiError(
    'execution_not_final',
    message('service.rerun_unfinished', { status: EXECUTION_STATUS_MESSAGES[source.status] }),
  );
}

/** Reruns with the same or another input, using the current saved version; a trial uses its own, which was never saved. */
export async function rerunFromStart(
  plans: PlanCache,
  id: number,
  source: RerunSource,
  workflow: Pick<StartableWorkflow, 'version' | 'isTestMode'>,
  input: JsonValue = parseJson(source.input),
): Promise<StartContent> {
  const version = source.workflow_version < 0 ? source.workflow_version : workflow.version;
  const compiled = await plans.get(source.workflow_id, version);
  const isTestMode = staysInTestMode(source, workflow);
  const { trigger_type: triggerType } = source;
  const content = { version, isTestMode, input, triggerType, compiled, rerunOf: id };
  const former = compiled.kind === 'invalid' ? null : await beginningOf(plans, source, compiled.plan);
  if (former === null || compiled.kind === 'invalid') return content;
  const { plan } = compiled;
  const { kept, nodeId } = former;
  const trigger = (nodeId === null ? undefined : triggerAt(plan, nodeId)) ?? plan.trigger;
  const request = kept?.request;
  const atMs = kept?.atMs ?? Date.now();
  return { ...content, request, records: startRecords(plan, trigger, { data: input, request }, atMs) };
}

/** Occurs in the record of a trigger that kept more than the data; most executions have none and needn't be parsed. */
const KEPT = '"request":{"method":';

/** How an execution started, if the plan alone doesn't tell: its trigger, and what that kept of the call besides the body. */
async function beginningOf(
  plans: PlanCache,
  source: RerunSource,
  plan: Plan,
): Promise<{ readonly nodeId: string | null; readonly kept: ReturnType<typeof requestIn> } | null> {
  if (source.chunks === null) return null;
  const keepsMore = source.trigger_type === 'webhook' && source.chunks.includes(KEPT);
  if (plan.triggers.length === 1 && !keepsMore) return null;
  const former = await plans.get(source.workflow_id, source.workflow_version);
  if (former.kind === 'invalid') return null;
  const records = parseChunks(source.chunks).flatMap((chunk) => chunk.records);
  const nodeId = recordedTrigger(former.plan, records)?.id ?? null;
  return { nodeId, kept: requestIn(former.plan, records) };
}

/** Which version a rerun from the failed node runs: the one that failed, or the one that is saved now. */
export type RerunVersion = 'same' | 'saved';

/** @throws ApiError `no_failed_node` */
export async function rerunFromFailedNode(
  plans: PlanCache,
  id: number,
  source: RerunSource,
  workflow: Pick<StartableWorkflow, 'version' | 'isTestMode'>,
  uses: RerunVersion = 'same',
): Promise<StartContent> {
  const version = uses === 'same' ? source.workflow_version : workflow.version;
  const compiled = await plans.get(source.workflow_id, version);
  // The saved version may be the first one that can run; of an invalid one, nothing was run that could be kept.
  if (source.status !== 'failed' || (uses === 'same' && compiled.kind === 'invalid')) {
    throw new ApiError('no_failed_node', message('service.rerun_no_failed_node'));
  }
  const former = await plans.get(source.workflow_id, source.workflow_version);
  const records = recordsKept(source, former, compiled);
  const { trigger_type: triggerType } = source;
  const isTestMode = staysInTestMode(source, workflow);
  const request = compiled.kind === 'plan' ? requestIn(compiled.plan, records)?.request : undefined;
  const input = parseJson(source.input);
  return { version, isTestMode, input, request, triggerType, compiled, rerunOf: id, records };
}

/**
 * What a rerun keeps of an execution.
 * @param former the plan that the execution ran
 * @param from a top-level node that runs again in any case
 */
export function recordsKept(
  source: Pick<RerunSource, 'chunks'>,
  former: CompileResult,
  compiled: CompileResult,
  from?: string,
): NodeRecord[] {
  if (compiled.kind === 'invalid' || former.kind === 'invalid') return [];
  const scope = { former: former.plan, ...(from === undefined ? {} : { from }) };
  return recordsToKeep(compiled.plan, foldRecords(parseChunks(source.chunks)), scope);
}

/**
 * What ran in test mode sends nothing when rerun, regardless of why it was in test mode: the workflow's setting at the time, the
 * calling execution, or a trial.
 */
export function staysInTestMode(
  source: Pick<RerunSource, 'is_test_mode'>,
  workflow: Pick<StartableWorkflow, 'isTestMode'>,
): boolean {
  return source.is_test_mode || workflow.isTestMode;
}
