import type { Database } from '@millrace/database/database';
import type { CompileResult, JsonObject } from '@millrace/engine';
import type { StartableWorkflow } from '@millrace/runtime/start-row';
import { FORM_TRIGGER } from '@millrace/service/webhooks/closed';
import { type FormOptions, readFormOptions } from '@millrace/triggers';
import { createTriggerReader } from '../addressed-triggers.ts';

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

export function createForms(db: Database): FormOf {
  const formsOf = createTriggerReader<WorkflowForm>(db, {
    ...{ type: FORM_TRIGGER, maxConfigBytes: MAX_CONFIG_BYTES },
    read: (triggers, { inputSchema }) =>
      triggers.map(({ nodeId, config }) => ({ nodeId, options: usable(config, inputSchema) })),
  });
  return async (workflow, compiled, nodeId) => {
    const forms = await formsOf(workflow, compiled);
    return nodeId === null ? forms[0] : forms.find((form) => form.nodeId === nodeId);
  };
}

function usable(config: JsonObject, inputSchema: JsonObject | null): FormOptions | null {
  const options = readFormOptions(config, inputSchema);
  if (options === null || options.fields.every(({ type }) => type === 'page')) return null;
  const { redirect_url: url } = options;
  return url === '' || (URL.canParse(url) && url.startsWith('https://')) ? options : null;
}
