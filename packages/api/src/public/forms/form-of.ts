import type { Database } from '@millrace/database/database';
import {
  type CompileResult,
  type JsonObject,
  type Plan,
  type PlanNode,
  parseJson,
  render,
} from '@millrace/engine';
import type { StartableWorkflow } from '@millrace/runtime/start-row';
import { FORM_TRIGGER, triggersOfType } from '@millrace/service/webhooks/closed';
import { findVersion } from '@millrace/service/workflows/store';
import { type FormOptions, readFormOptions } from '@millrace/triggers';

const MAX_CONFIG_BYTES = 1024 * 1024;

/** The form of a trigger; its options are null if they can't be used. */
export interface WorkflowForm {
  readonly nodeId: string;
  readonly options: FormOptions | null;
}

/** Finds a form of a workflow's version: that of a trigger, or the first. Undefined if there is none. */
export type FormOf = (
  workflow: StartableWorkflow,
  compiled: CompileResult,
  nodeId: string | null,
) => Promise<WorkflowForm | undefined>;

/** Reads each form once per plan. A flow that can't run has a form as well: its executions fail, as those of its other starts do. */
export function createForms(db: Database): FormOf {
  const ofPlans = new WeakMap<Plan, readonly WorkflowForm[]>();
  const formsOf = async (
    { id, organisationId, version }: StartableWorkflow,
    compiled: CompileResult,
  ): Promise<readonly WorkflowForm[]> => {
    if (compiled.kind === 'invalid') {
      const row = await findVersion(db, organisationId, id, version);
      const triggers = row === undefined ? [] : triggersOfType(parseJson(row.flow_data), FORM_TRIGGER);
      return triggers.map(({ nodeId, config }) => ({ nodeId, options: usable(config) }));
    }
    const { plan } = compiled;
    let forms = ofPlans.get(plan);
    if (forms === undefined) {
      forms = plan.triggers
        .filter(({ type }) => type === FORM_TRIGGER)
        .map((trigger) => ({ nodeId: trigger.id, options: usable(configOf(trigger, plan.vars)) }));
      ofPlans.set(plan, forms);
    }
    return forms;
  };
  return async (workflow, compiled, nodeId) => {
    const forms = await formsOf(workflow, compiled);
    return nodeId === null ? forms[0] : forms.find((form) => form.nodeId === nodeId);
  };
}

function configOf({ config }: PlanNode, vars: JsonObject): JsonObject {
  const scope = { triggerData: null, executionId: 0, vars, nodeOutput: () => null };
  return render(config, scope, MAX_CONFIG_BYTES) as JsonObject;
}

function usable(config: JsonObject): FormOptions | null {
  const options = readFormOptions(config);
  if (options === null || options.fields.every(({ type }) => type === 'page')) return null;
  const { redirect_url: url } = options;
  return url === '' || (URL.canParse(url) && url.startsWith('https://')) ? options : null;
}
