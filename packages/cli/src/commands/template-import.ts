import type { Queryable } from '@millrace/database/database';
import { type JsonValue, textOrJson } from '@millrace/engine';
import { registry } from '@millrace/nodes';
import {
  findTemplate,
  joinCompanion,
  listTemplates,
  setVariable,
  type Template,
  variablesOf,
  variableValue,
} from '@millrace/service/templates/catalogue';
import type { WorkflowDetailRow } from '@millrace/service/workflows/store';
import type { Config } from '../settings/config.ts';
import { changeOrKeep, organisationOrAsk } from './ask.ts';
import { withDatabase } from './running-service.ts';
import { type CommandResult, RefusedError } from './shell.ts';
import { readValue } from './template-value.ts';
import { checkWorkflow } from './workflow-file.ts';
import { type ImportOptions, presentImported, storeWorkflow } from './workflow-transfer.ts';

/** A value for `settings.vars`. */
export interface Setting {
  readonly name: string;
  readonly value: JsonValue;
}

/**
 * Stores a workflow of `examples/` and its companions as new ones, with values of their `settings.vars` set.
 * @throws RefusedError `template_unknown`, `variable_unknown`
 */
export function importTemplate(
  id: string,
  options: ImportOptions & { readonly var?: readonly Setting[] },
): Promise<CommandResult> {
  return withDatabase(async (db, config) => {
    const template = await findTemplate(id);
    if (template === undefined) {
      const known = (await listTemplates()).map((other) => other.id).join(', ');
      throw new RefusedError('template_unknown', `There is no template "${id}". There are: ${known}`);
    }
    const given = options.var ?? [];
    setVariables(template, given);
    const answers = await askForRest(template, given, options);
    setVariables(template, answers);
    const organisation = await organisationOrAsk(db, options);
    const stored = await db.forOrganisation(organisation.id, (tx) =>
      storeTemplate(tx, organisation.id, template, config),
    );
    const result = await presentImported(stored.workflow);
    const companions = stored.companions.map((row) => `\n  workflow ${row.id}, "${row.name}", ${row.status}`);
    const text = `${result.text}${listed('Also imported:', companions)}${stillToSet(template, [...given, ...answers])}`;
    return { json: result.json, text };
  });
}

/** Sets the values that differ between organisations. */
function setVariables(template: Template, settings: readonly Setting[]): void {
  for (const { name, value } of settings) {
    if (setVariable(template, name, value)) continue;
    const known = variablesOf(template).join(', ');
    throw new RefusedError('variable_unknown', `The template has no variable "${name}". It has: ${known}`);
  }
}

/** Asks at the terminal for values that weren't given; unchanged ones remain to be set. */
async function askForRest(
  template: Template,
  settings: readonly Setting[],
  options: ImportOptions,
): Promise<readonly Setting[]> {
  const answers: Setting[] = [];
  for (const step of template.setup) {
    if (settings.some(({ name }) => name === step.var)) continue;
    const value = variableValue(template, step);
    const isOpen = step.credential !== undefined && value === 0;
    const shown = isOpen ? '' : textOrJson(value);
    const question = isOpen ? `${step.description}: its ID, or empty to set it later` : step.description;
    const answer = await changeOrKeep(question, shown, options);
    if (answer !== undefined) answers.push({ name: step.var, value: valueFrom(answer, value) });
  }
  return answers;
}

/** The input is a string if the previous value was one, else JSON if it parses as JSON. */
function valueFrom(answer: string, before: JsonValue): JsonValue {
  return typeof before === 'string' ? answer : readValue(answer);
}

/** All or nothing; each is validated like any other workflow. */
async function storeTemplate(
  tx: Queryable,
  organisationId: number,
  template: Template,
  config: Config,
): Promise<{ readonly workflow: WorkflowDetailRow; readonly companions: readonly WorkflowDetailRow[] }> {
  const rows: WorkflowDetailRow[] = [];
  for (const companion of template.companions) {
    const file = checkWorkflow(companion.workflow, config, registry);
    const row = await storeWorkflow(tx, organisationId, file);
    joinCompanion(template, companion, row.id);
    rows.push(row);
  }
  const file = checkWorkflow(template.workflow, config, registry);
  return { workflow: await storeWorkflow(tx, organisationId, file, null, template.id), companions: rows };
}

function stillToSet({ setup }: Template, settings: readonly Setting[]): string {
  const given = new Set(settings.map(({ name }) => name));
  const open = setup.filter((step) => !given.has(step.var));
  return listed(
    'Set these before you use it:',
    open.map((step) => `\n  ${step.var}: ${step.description}`),
  );
}

function listed(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `\n${title}${lines.join('')}`;
}
