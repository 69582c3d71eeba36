import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { TEMPLATE_CATEGORIES } from '@millrace/admin-api';
import {
  type Flow,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  setOwn,
} from '@millrace/engine';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import type { NewWorkflow } from '../workflows/workflow.ts';

const FILE_PATTERN = '^[a-z0-9-]+\\.json$';

/**
 * `template.json` next to an example's `workflow.json`: what a person must know before using the workflow. Everything that
 * differs between organisations is in the workflow's `settings.vars`, except what is read before variables exist: the
 * settings of triggers.
 */
const TemplateFile = Type.Object(
  {
    summary: Type.String({ minLength: 1, maxLength: 300 }),
    /** What it is for; the gallery is filtered by them. */
    categories: Type.Array(Type.Enum([...TEMPLATE_CATEGORIES], { type: 'string' }), { minItems: 1 }),
    /** What to set before the workflow is useful, in the order to ask for it. */
    setup: Type.Array(
      Type.Object(
        {
          /** Its name in `settings.vars` of the workflow or of a companion. */
          var: Type.String({ pattern: '^[a-z][a-z0-9_]*$' }),
          /** Its location in the workflow's `flow_data`, as a JSON Pointer: instead of a variable, or in addition to one of this name. */
          pointer: Type.Optional(Type.String({ pattern: '^/nodes/' })),
          description: Type.String({ minLength: 1 }),
          /** It is the id of a credential of one of these types. */
          credential: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
        },
        { additionalProperties: false },
      ),
    ),
    /** Workflows that must exist before it: it calls them, or they run when it fails. */
    companions: Type.Optional(
      Type.Array(
        Type.Object(
          {
            file: Type.String({ pattern: FILE_PATTERN }),
            /** Where its id goes in the workflow's `flow_data`, as a JSON Pointer. */
            pointer: Type.String({ pattern: '^/settings/' }),
          },
          { additionalProperties: false },
        ),
      ),
    ),
    /** Files next to it with trigger data to try it with; none for a workflow whose trigger has its own. */
    samples: Type.Array(Type.String({ pattern: FILE_PATTERN })),
  },
  { additionalProperties: false },
);

/** What `POST /workflows` accepts. The template tests check that the files comply. */
export type TemplateWorkflow = Omit<NewWorkflow, 'id'> & { readonly flow_data: Flow };

/** A workflow to start from. */
export interface Template extends Omit<Static<typeof TemplateFile>, 'samples' | 'companions'> {
  /** Name of its folder in `examples/`, stable: `templates import <id>`. */
  readonly id: string;
  readonly workflow: TemplateWorkflow;
  /** Create each of these first; {@link joinCompanion} then sets its id in the workflow. */
  readonly companions: readonly Companion[];
  /** Trigger data to try it with. */
  readonly samples: readonly { readonly name: string; readonly data: JsonValue }[];
}

export interface Companion {
  readonly file: string;
  readonly pointer: string;
  readonly workflow: TemplateWorkflow;
}

/** The workflow of a new installation; it needs no setup and calls no other service. */
export const SAMPLE_TEMPLATE = 'greeting';

const FOLDER = fileURLToPath(new URL('../../../../examples', import.meta.url));

/**
 * The workflows of `examples/`, by id.
 * @throws Error if one of them is invalid; the message names the file
 */
export async function listTemplates(): Promise<Template[]> {
  return await Promise.all((await listIds()).map(readTemplate));
}

/** One of {@link listTemplates}, or undefined. */
export async function findTemplate(id: string): Promise<Template | undefined> {
  return (await listIds()).includes(id) ? readTemplate(id) : undefined;
}

/** A template that is part of every installation. */
export async function getTemplate(id: typeof SAMPLE_TEMPLATE): Promise<Template> {
  return readTemplate(id);
}

async function listIds(): Promise<string[]> {
  const entries = await readdir(FOLDER, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

/** The names that {@link setVariable} accepts for a template. */
export function variablesOf(template: Template): string[] {
  const names = workflowsOf(template).flatMap((workflow) => Object.keys(varsOf(workflow) ?? {}));
  return [...new Set([...template.setup.map((step) => step.var), ...names])];
}

/** A variable's default value; null if it doesn't exist. */
export function variableValue(
  template: Template,
  { var: name, pointer }: Template['setup'][number],
): JsonValue {
  if (pointer !== undefined) return memberAt(template.workflow.flow_data, pointer.slice(1).split('/'));
  const owner = workflowsOf(template)
    .map(varsOf)
    .find((vars) => vars !== null && Object.hasOwn(vars, name));
  return owner?.[name] ?? null;
}

/** Sets a variable in each of a template's workflows that has it, and where its pointer says. Returns false if there is neither. */
export function setVariable(template: Template, name: string, value: JsonValue): boolean {
  const step = template.setup.find((each) => each.var === name && each.pointer !== undefined);
  if (step?.pointer !== undefined) setAt(template.workflow, step.pointer, value);
  const owners = workflowsOf(template)
    .map(varsOf)
    .filter((vars) => vars !== null && Object.hasOwn(vars, name));
  for (const vars of owners) if (vars !== null) setOwn(vars, name, value);
  return step?.pointer !== undefined || owners.length > 0;
}

/** Sets the id of a created companion in the template's workflow. */
export function joinCompanion(template: Template, companion: Companion, id: number): void {
  setAt(template.workflow, companion.pointer, id);
}

function workflowsOf({ workflow, companions }: Template): TemplateWorkflow[] {
  return [workflow, ...companions.map((companion) => companion.workflow)];
}

function varsOf({ flow_data: flow }: TemplateWorkflow): JsonObject | null {
  return flow.settings?.vars ?? null;
}

/** @throws Error if the pointer doesn't resolve: the template is invalid */
function setAt({ flow_data: flow }: TemplateWorkflow, pointer: string, value: JsonValue): void {
  const names = pointer.slice(1).split('/');
  const owner = memberAt(flow, names.slice(0, -1));
  if (!isJsonObject(owner)) throw new Error(`${pointer} doesn't exist in the workflow's flow_data`);
  setOwn(owner, names.at(-1) ?? '', value);
}

function memberAt(value: JsonValue, names: readonly string[]): JsonValue {
  return names.reduce<JsonValue>((owner, name) => {
    if (isJsonArray(owner)) return owner[Number(name)] ?? null;
    return isJsonObject(owner) ? (owner[name] ?? null) : null;
  }, value);
}

/** A workflow from a file. It always starts as a draft: its new owner hasn't yet seen what it does or configured where it sends things. */
function asDraft(file: JsonValue): TemplateWorkflow {
  return { ...(file as TemplateWorkflow), status: 'draft' };
}

async function readTemplate(id: string): Promise<Template> {
  const path = `${FOLDER}/${id}/template.json`;
  const about: unknown = JSON.parse(await readFile(path, 'utf8'));
  if (!Value.Check(TemplateFile, about)) {
    const [error] = Value.Errors(TemplateFile, about);
    throw new Error(`${path}: ${error?.instancePath ?? ''} ${error?.message ?? 'is not a template'}`);
  }
  const read = async (name: string): Promise<JsonValue> =>
    parseJson(await readFile(`${FOLDER}/${id}/${name}`, 'utf8'));
  const samples = about.samples.map(async (name) => ({ name, data: await read(name) }));
  const companions = (about.companions ?? []).map(async (companion) => ({
    ...companion,
    workflow: asDraft(await read(companion.file)),
  }));
  return {
    id,
    ...about,
    workflow: asDraft(await read('workflow.json')),
    companions: await Promise.all(companions),
    samples: await Promise.all(samples),
  };
}
