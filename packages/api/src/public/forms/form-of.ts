import type { Database } from '@millrace/database/database';
import { type CompileResult, type JsonObject, type Plan, parseJson, render } from '@millrace/engine';
import type { StartableWorkflow } from '@millrace/runtime/start-row';
import { FORM_TRIGGER, triggerConfigOf } from '@millrace/service/webhooks/closed';
import { findVersion } from '@millrace/service/workflows/store';
import { type FormOptions, readFormOptions } from '@millrace/triggers';

const MAX_CONFIG_BYTES = 1024 * 1024;

/** Finds the form of a workflow's version; null if its settings can't be used. */
export type FormOf = (workflow: StartableWorkflow, compiled: CompileResult) => Promise<FormOptions | null>;

/** Reads each form once per plan. A flow that can't run has a form as well: its executions fail, as those of its other starts do. */
export function createForms(db: Database): FormOf {
  const ofPlans = new WeakMap<Plan, FormOptions | null>();
  return async ({ id, organisationId, version }, compiled) => {
    if (compiled.kind === 'invalid') {
      const row = await findVersion(db, organisationId, id, version);
      return row === undefined ? null : usable(triggerConfigOf(parseJson(row.flow_data), FORM_TRIGGER));
    }
    const { plan } = compiled;
    let form = ofPlans.get(plan);
    if (form === undefined) {
      form = usable(configOf(plan));
      ofPlans.set(plan, form);
    }
    return form;
  };
}

function configOf({ trigger, vars }: Plan): JsonObject {
  const scope = { triggerData: null, executionId: 0, vars, nodeOutput: () => null };
  return render(trigger.config, scope, MAX_CONFIG_BYTES) as JsonObject;
}

function usable(config: JsonObject): FormOptions | null {
  const options = readFormOptions(config);
  if (options === null || options.fields.every(({ type }) => type === 'page')) return null;
  const { redirect_url: url } = options;
  return url === '' || (URL.canParse(url) && url.startsWith('https://')) ? options : null;
}
