import type { Queryable } from '@millrace/database/database';
import type { JsonObject, NodeRegistry } from '@millrace/engine';
import { validationError } from '@millrace/errors/errors';
import { type Message, message } from '@millrace/messages';
import { putSample } from '../samples/store.ts';
import type { FlowLimits } from '../settings.ts';
import { checkFlow } from '../workflows/rules.ts';
import { type Author, createWorkflow } from '../workflows/save.ts';
import type { WorkflowDetailRow } from '../workflows/store.ts';
import type { NewWorkflow } from '../workflows/workflow.ts';
import {
  findTemplate,
  joinCompanion,
  setVariable,
  type Template,
  type TemplateWorkflow,
  variablesOf,
} from './catalogue.ts';

/** A template someone has chosen, with the values they filled in. */
export interface ChosenTemplate {
  readonly id: string;
  readonly vars?: JsonObject;
}

export interface CreateDeps {
  readonly registry: NodeRegistry;
  readonly config: { readonly limits: FlowLimits };
}

export interface CreatedFromTemplate {
  readonly workflow: WorkflowDetailRow;
  readonly companions: readonly WorkflowDetailRow[];
}

/**
 * Creates a template's workflow and its companions, all or none. The template's first sample becomes the workflow's sample.
 * @param given replaces the template's own name, description, ...
 * @throws ApiError 422 on `template` and on errors in the filled-in flow
 */
export async function createFromTemplate(
  tx: Queryable,
  author: Author,
  chosen: ChosenTemplate,
  given: Partial<NewWorkflow>,
  deps: CreateDeps,
): Promise<CreatedFromTemplate> {
  const template = await findTemplate(chosen.id);
  if (template === undefined) throw faultAt('/template/id', message('service.template_unknown'));
  fillIn(template, chosen.vars ?? {});
  const companions: WorkflowDetailRow[] = [];
  for (const companion of template.companions) {
    const row = await createOne(tx, author, companion.workflow, {}, deps);
    joinCompanion(template, companion, row.id);
    companions.push(row);
  }
  const workflow = await createOne(tx, author, template.workflow, given, deps, template.id);
  const [sample] = template.samples;
  if (sample !== undefined) {
    const { organisationId } = author;
    await putSample(tx, { organisationId, workflowId: workflow.id, data: sample.data });
  }
  return { workflow, companions };
}

function fillIn(template: Template, vars: JsonObject): void {
  for (const [name, value] of Object.entries(vars)) {
    if (setVariable(template, name, value)) continue;
    const known = variablesOf(template).join(', ');
    throw faultAt(`/template/vars/${name}`, message('service.template_variable_unknown', { known }));
  }
}

async function createOne(
  tx: Queryable,
  author: Author,
  workflow: TemplateWorkflow,
  given: Partial<NewWorkflow>,
  { registry, config }: CreateDeps,
  templateId: string | null = null,
): Promise<WorkflowDetailRow> {
  // The template tests check examples/.
  const body: NewWorkflow = { ...workflow, ...given };
  const flow = checkFlow(workflow.flow_data, registry, config.limits.nodes);
  return createWorkflow(tx, author, body, flow, registry, templateId);
}

function faultAt(pointer: string, fault: Message): Error {
  return validationError([{ pointer, code: 'invalid_value', message: fault }]);
}
