import type { Database } from '@millrace/database/database';
import {
  type CompileResult,
  type Flow,
  type JsonObject,
  type Plan,
  type PlanNode,
  parseJson,
  render,
} from '@millrace/engine';
import type { StartableWorkflow } from '@millrace/runtime/start-row';
import { type AddressedTrigger, triggersOfType } from '@millrace/service/webhooks/closed';
import { findVersion } from '@millrace/service/workflows/store';

/** What was read of a version's triggers of one type; at once if it was read before. */
export type ReadTriggers<Read> = (
  workflow: StartableWorkflow,
  compiled: CompileResult,
) => Promise<readonly Read[]> | readonly Read[];

interface Reading<Read> {
  readonly type: string;
  /** Of one trigger's settings, rendered. */
  readonly maxConfigBytes: number;
  readonly read: (triggers: readonly AddressedTrigger[], flow: FlowOfTriggers) => readonly Read[];
}

interface FlowOfTriggers {
  /** Null for a flow that can't run, whose settings are as they were written. */
  readonly plan: Plan | null;
  readonly inputSchema: JsonObject | null;
}

/**
 * Reads the triggers of a type that public addresses lead to, once per plan. A flow that can't run has them as well: its executions fail, but its
 * addresses answer as those of others do.
 */
export function createTriggerReader<Read>(
  db: Database,
  { type, maxConfigBytes, read }: Reading<Read>,
): ReadTriggers<Read> {
  const ofPlans = new WeakMap<Plan, readonly Read[]>();

  async function ofUnfinished({ id, organisationId, version }: StartableWorkflow) {
    const row = await findVersion(db, organisationId, id, version);
    if (row === undefined) return [];
    const flow: Flow = parseJson(row.flow_data);
    const inputSchema = flow.settings?.input_schema ?? null;
    return read(triggersOfType(flow, type), { plan: null, inputSchema });
  }

  return (workflow, compiled) => {
    if (compiled.kind === 'invalid') return ofUnfinished(workflow);
    const { plan } = compiled;
    const known = ofPlans.get(plan);
    if (known !== undefined) return known;
    const triggers = plan.triggers
      .filter((trigger) => trigger.type === type)
      .map((trigger) => ({ nodeId: trigger.id, config: rendered(trigger, plan.vars, maxConfigBytes) }));
    // A schema is JSON; its type says less so that nodes can write theirs as they like.
    const made = read(triggers, { plan, inputSchema: plan.inputSchema as JsonObject | null });
    ofPlans.set(plan, made);
    return made;
  };
}

/** Responses and answers in a config are rendered when the execution has ended. */
function rendered({ config }: PlanNode, vars: JsonObject, maxBytes: number): JsonObject {
  const scope = { triggerData: null, executionId: 0, vars, nodeOutput: () => null };
  return render(config, scope, maxBytes) as JsonObject;
}
