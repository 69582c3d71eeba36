import { createHash } from 'node:crypto';
import {
  type CompileResult,
  cellRateOf,
  displayNameOf,
  findFiles,
  type JsonValue,
  type NodeRecord,
  type Plan,
  PRIORITIES,
  searchKeysOf,
  startKeyOf,
  startRecords,
  stringifyJson,
  type Template,
  type TriggerCall,
  triggerAt,
  USUAL_PRIORITY,
} from '@millrace/engine';
import type { StartPermit } from './start-permits.ts';
import type { GivenFiles, KeyedConcurrency, KeyedResponse, StartHold, StartRow } from './start-statements.ts';

/** The parts of a workflow needed to start it. */
export interface StartableWorkflow {
  readonly id: number;
  readonly organisationId: number;
  readonly name: string;
  readonly status: 'draft' | 'active' | 'inactive' | 'archived';
  readonly version: number;
  readonly isTestMode: boolean;
}

/** Who started an execution, and from where; stored with it. */
export interface StartOrigin {
  /** `api_keys.id`; null if no key did. */
  readonly apiKeyId: number | null;
  readonly sourceIp: string;
  /** Its span, as a `traceparent` header; absent without tracing. */
  readonly traceparent?: string | null;
}

export interface StartOrder {
  /** Reserved by a look-up. */
  readonly executionId: number;
  /** When it was accepted, by the database's clock. */
  readonly acceptedAt: Date;
  readonly workflow: Pick<StartableWorkflow, 'id' | 'organisationId' | 'name' | 'isTestMode'>;
  readonly version: number;
  /** Whether it runs in test mode; defaults to the workflow's setting. */
  readonly isTestMode?: boolean;
  /** What started it: `api`, `webhook`, `schedule`, `flow`, `error`; a rerun keeps the first one's. */
  readonly triggerType: string;
  /** The trigger's data. */
  readonly input: JsonValue;
  /** What the trigger keeps of a webhook call besides its body; also part of the trigger's record. */
  readonly request?: JsonValue | undefined;
  readonly compiled: CompileResult;
  readonly rerunOf?: number;
  /** The execution whose files it may be given: the one that starts it, itself or by its failure. */
  readonly filesOf?: number;
  /** The files that its caller sent with it; it may name no others. */
  readonly files?: readonly string[];
  /** Absent if the service itself starts it. */
  readonly origin?: StartOrigin;
  /** Records of what has ended before it starts: what a rerun reuses, or a trigger that keeps more than the data. */
  readonly records?: readonly NodeRecord[];
  /** Stored by the same statement. */
  readonly response?: KeyedResponse;
  /** What has to hold when it is stored; absent if the database was asked before. */
  readonly permit?: StartPermit;
}

/** Stands in for the workflow's limit if an execution has only a limit by key: a number that is never reached. */
export const NO_WORKFLOW_LIMIT = 2 ** 31 - 1;

/** How many executions of the workflow may run at once; null if its executions don't have to be claimed. */
export function maxConcurrencyOf(compiled: CompileResult): number | null {
  if (compiled.kind !== 'plan') return null;
  const { maxConcurrency, concurrency } = compiled.plan;
  return maxConcurrency ?? (concurrency === null ? null : NO_WORKFLOW_LIMIT);
}

/** What templates in the settings can read. */
function readableAt({ executionId, input, request, acceptedAt }: StartOrder) {
  return { executionId, triggerData: input, request, nowMs: acceptedAt.getTime() };
}

function keyedConcurrencyOf(plan: Plan | null, order: StartOrder): KeyedConcurrency | null {
  if (plan === null || plan.concurrency === null) return null;
  const { key, limit, onLimit } = plan.concurrency;
  const text = key === null ? null : startKeyOf(key, plan, readableAt(order));
  return { key: text === null ? Buffer.alloc(0) : hashOfKey(text), limit, onLimit };
}

export function hashOfKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** Trials and reruns aren't held. */
function holdOf(order: StartOrder, plan: Plan | null): StartHold | null {
  const { triggerType, version, rerunOf } = order;
  if (plan === null || triggerType === 'manual' || version < 0) return null;
  const { rate, debounce: written } = plan;
  const debounce = rerunOf === undefined ? written : null;
  if (rate === null && debounce === null) return null;
  const hashOf = (key: Template | null) => hashOfKey(startKeyOf(key, plan, readableAt(order)));
  return {
    rate: rate && { keyHash: hashOf(rate.key), rate: cellRateOf(rate) },
    debounce: debounce && { ...debounce, keyHash: hashOf(debounce.key) },
  };
}

function searchKeysJsonOf(plan: Plan | null, order: StartOrder): string | null {
  if (plan === null || plan.searchKeys.length === 0) return null;
  const keys = searchKeysOf(plan, readableAt(order));
  return keys === null ? null : stringifyJson(keys);
}

/** Starts by members, who may name any of the organisation's files. Anyone may send a webhook. */
const TRIGGERS_OF_MEMBERS = ['api', 'manual'];

function givenFilesJsonOf(order: StartOrder, texts: readonly (string | null)[]): string | null {
  const of = order.rerunOf ?? order.filesOf ?? null;
  const isMember = of !== null || TRIGGERS_OF_MEMBERS.includes(order.triggerType);
  if (!isMember && order.files === undefined) return null;
  // Most starts name none, and needn't be searched.
  if (!texts.some((text) => text?.includes('"$file"'))) return null;
  const kept = (order.records ?? []).map((record) => ('output' in record ? (record.output ?? null) : null));
  const named = findFiles([order.input, ...kept]).map(({ id }) => id);
  const ids = isMember ? named : named.filter((id) => order.files?.includes(id));
  return ids.length === 0 ? null : stringifyJson({ ids, of } satisfies GivenFiles);
}

/** What an execution starts with: the record of its trigger, if it needs one. @param nodeId of the trigger; null for the plan's own */
export function recordsOfStart(
  compiled: CompileResult,
  nodeId: string | null,
  call: TriggerCall,
  acceptedAt: Date,
): readonly NodeRecord[] {
  if (compiled.kind === 'invalid') return [];
  const { plan } = compiled;
  const trigger = nodeId === null ? plan.trigger : triggerAt(plan, nodeId);
  if (trigger === undefined) throw new Error(`the plan has no trigger ${nodeId}`);
  return startRecords(plan, trigger, call, acceptedAt.getTime());
}

/** The row of an accepted start, to be queued. */
export function toStartRow(order: StartOrder): StartRow {
  const { workflow, compiled, records, executionId } = order;
  const plan = compiled.kind === 'plan' ? compiled.plan : null;
  const inputJson = stringifyJson(order.input);
  const recordsJson = records === undefined || records.length === 0 ? null : stringifyJson(records);
  return {
    id: executionId,
    organisationId: workflow.organisationId,
    workflowId: workflow.id,
    workflowVersion: order.version,
    triggerType: order.triggerType,
    displayName: displayNameOf(plan, { ...readableAt(order), workflowName: workflow.name }),
    isTestMode: order.isTestMode ?? workflow.isTestMode,
    inputJson,
    timeoutMs: plan?.timeoutMs ?? null,
    createdAt: order.acceptedAt,
    leaseTo: null,
    rerunOf: order.rerunOf ?? null,
    apiKeyId: order.origin?.apiKeyId ?? null,
    sourceIp: order.origin?.sourceIp ?? null,
    traceparent: order.origin?.traceparent ?? null,
    recordsJson,
    ahead: null,
    maxConcurrency: maxConcurrencyOf(compiled),
    concurrency: keyedConcurrencyOf(plan, order),
    priority: PRIORITIES.indexOf(plan?.priority ?? USUAL_PRIORITY),
    hold: holdOf(order, plan),
    heldUntil: null,
    searchKeysJson: searchKeysJsonOf(plan, order),
    givenFilesJson: givenFilesJsonOf(order, [inputJson, recordsJson]),
    errorWorkflowId: plan?.errorWorkflowId ?? null,
    response: order.response ?? null,
    permit: order.permit ?? null,
  };
}
