import { createHash } from 'node:crypto';
import {
  type CompileResult,
  cellRateOf,
  displayNameOf,
  type JsonValue,
  type NodeRecord,
  type Plan,
  PRIORITIES,
  startKeyOf,
  stringifyJson,
  type Template,
  USUAL_PRIORITY,
} from '@millrace/engine';
import type { KeyedResponse, StartHold, StartRow } from './statements.ts';

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
  readonly compiled: CompileResult;
  readonly rerunOf?: number;
  /** Absent if the service itself starts it. */
  readonly origin?: StartOrigin;
  /** What a rerun reuses. */
  readonly records?: readonly NodeRecord[];
  /** Stored by the same statement. */
  readonly response?: KeyedResponse;
}

/** How many executions of the workflow may run at once; null for no limit. */
export function maxConcurrencyOf(compiled: CompileResult): number | null {
  return compiled.kind === 'plan' ? compiled.plan.maxConcurrency : null;
}

/** A trial runs at once, and a rerun is wanted for itself. */
function holdOf(
  { executionId, triggerType, version, rerunOf, input }: StartOrder,
  plan: Plan | null,
): StartHold | null {
  if (plan === null || triggerType === 'manual' || version < 0) return null;
  const { rate, debounce: written } = plan;
  const debounce = rerunOf === undefined ? written : null;
  if (rate === null && debounce === null) return null;
  const hashOf = (key: Template | null) =>
    createHash('sha256')
      .update(startKeyOf(key, plan, { executionId, triggerData: input }))
      .digest();
  return {
    rate: rate && { keyHash: hashOf(rate.key), rate: cellRateOf(rate) },
    debounce: debounce && { ...debounce, keyHash: hashOf(debounce.key) },
  };
}

/** The row of an accepted start. @param leaseTo the worker to lease it to; null to queue it */
export function toStartRow(order: StartOrder, leaseTo: string | null): StartRow {
  const { workflow, compiled, records, executionId } = order;
  const plan = compiled.kind === 'plan' ? compiled.plan : null;
  return {
    id: executionId,
    organisationId: workflow.organisationId,
    workflowId: workflow.id,
    workflowVersion: order.version,
    triggerType: order.triggerType,
    displayName: displayNameOf(plan, { executionId, workflowName: workflow.name, triggerData: order.input }),
    isTestMode: order.isTestMode ?? workflow.isTestMode,
    inputJson: stringifyJson(order.input),
    timeoutMs: plan?.timeoutMs ?? null,
    createdAt: order.acceptedAt,
    leaseTo,
    rerunOf: order.rerunOf ?? null,
    apiKeyId: order.origin?.apiKeyId ?? null,
    sourceIp: order.origin?.sourceIp ?? null,
    recordsJson: records === undefined || records.length === 0 ? null : stringifyJson(records),
    maxConcurrency: maxConcurrencyOf(compiled),
    priority: PRIORITIES.indexOf(plan?.priority ?? USUAL_PRIORITY),
    hold: holdOf(order, plan),
    heldUntil: null,
    errorWorkflowId: plan?.errorWorkflowId ?? null,
    response: order.response ?? null,
  };
}
