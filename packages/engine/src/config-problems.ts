import { type Message, message } from '@millrace/messages';
import type { Template } from '@millrace/templates/template';
import type { JsonSchema } from '@millrace/values/json';
import {
  isJsonArray,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  joinPointer,
  setOwn,
} from '@millrace/values/json';
import type { FlowScope, NodeDefinition } from './node.ts';
import { type SchemaError, validateValue } from './schema.ts';

/** A fault of a node's config before rendering; `pointer` starts at the config. */
export interface ConfigProblem {
  readonly pointer: string;
  readonly code: 'missing_config' | 'invalid_config';
  readonly message: Message;
}

/**
 * Checks an unrendered config against the schema of the rendered one. The result of a template is known only at run time, so values that
 * are templates, and choices between alternatives that depend on one, aren't checked here.
 */
export function findConfigProblems(
  schema: JsonSchema,
  config: JsonObject,
  template: Template,
  at = '',
): readonly ConfigProblem[] {
  const dynamic = new Set<string>();
  const known = template.kind === 'constant' ? config : withoutTemplates(config, template, '', dynamic);
  return validateValue(schema, known as JsonValue)
    .filter((error) => isCertain(error, dynamic))
    .map((error) => toProblem(error, at));
}

/**
 * {@link findConfigProblems}, plus the faults that the node itself finds in a config that matches its schema.
 * @param at pointer of the config when it is part of another one
 * @param flow absent for a config that is part of another one
 */
export function findDefinitionProblems(
  definition: NodeDefinition,
  config: JsonObject,
  template: Template,
  { at = '', flow }: { readonly at?: string; readonly flow?: FlowScope } = {},
): readonly ConfigProblem[] {
  const problems = findConfigProblems(definition.configSchema, config, template, at);
  if (problems.length > 0) return problems;
  const faults = definition.findFaults?.(config, flow) ?? [];
  return faults.map((fault) => toProblem({ ...fault, keyword: '' }, at));
}

/** A problem whose message starts with the path it is about, in dots. */
export function placed<Problem extends { readonly pointer: string; readonly message: Message }>(
  problem: Problem,
): Problem {
  const path = problem.pointer.split('/').slice(1).join('.');
  const { message: fault } = problem;
  const explanation =
    path === '' ? message('flow.at_config', { fault }) : message('flow.at_value', { path, fault });
  return { ...problem, message: explanation };
}

/** The rendered config's first fault, or null. Used at run time, when all values are known. */
export function describeConfigFault(schema: JsonSchema, config: JsonValue): Message | null {
  const [error] = validateValue(schema, config);
  return error === undefined ? null : toProblem(error).message;
}

function toProblem(
  { pointer, keyword, message: fault }: Pick<SchemaError, 'pointer' | 'keyword' | 'message'>,
  at = '',
): ConfigProblem {
  const code = keyword === 'required' ? 'missing_config' : 'invalid_config';
  return placed({ pointer: `${at}${pointer}`, code, message: fault });
}

/** The config without the members that contain templates, whose pointers go into `dynamic`. List items stay, or the others would shift. */
function withoutTemplates(value: JsonValue, template: Template, at: string, dynamic: Set<string>): JsonValue {
  if (template.kind === 'list' && isJsonArray(value)) {
    return value.map((item, index) => {
      const part = template.items[index];
      return part === undefined ? item : withoutTemplates(item, part, `${at}/${index}`, dynamic);
    });
  }
  if (template.kind === 'record' && !isRawNumber(value)) {
    const kept: { [name: string]: JsonValue } = {};
    for (const [name, part] of template.members) {
      const pointer = joinPointer(at, name);
      if (isTemplate(part)) dynamic.add(pointer);
      else setOwn(kept, name, withoutTemplates((value as JsonObject)[name] ?? null, part, pointer, dynamic));
    }
    return kept;
  }
  if (isTemplate(template)) dynamic.add(at);
  return value;
}

function isTemplate(template: Template): boolean {
  return template.kind === 'expression' || template.kind === 'text';
}

/** Keywords that check everything inside a value, so that an unknown part makes the result uncertain. */
const WHOLE_VALUE_KEYWORDS: ReadonlySet<string> = new Set([
  'anyOf',
  'oneOf',
  'not',
  'if',
  'const',
  'enum',
  'contains',
  'uniqueItems',
  'minProperties',
  'dependencies',
  'dependentRequired',
]);
const ALTERNATIVES = /\/(?:anyOf|oneOf|not|if|then|else|contains|dependentSchemas)(?:\/|$)/;

function isCertain(error: SchemaError, dynamic: ReadonlySet<string>): boolean {
  if (dynamic.size === 0) return true;
  if (dynamic.has(error.pointer)) return false;
  if (WHOLE_VALUE_KEYWORDS.has(error.keyword) && holdsAny(error.pointer, dynamic)) return false;
  // The alternative was chosen at this pointer or above it; the top-level member is certainly above.
  if (ALTERNATIVES.test(error.schemaPath)) {
    const top = /^#\/(?:properties|additionalProperties)\//.test(error.schemaPath)
      ? error.pointer.split('/').slice(0, 2).join('/')
      : '';
    return !holdsAny(top, dynamic);
  }
  return true;
}

function holdsAny(pointer: string, dynamic: ReadonlySet<string>): boolean {
  for (const one of dynamic)
    if (pointer === '' || one === pointer || one.startsWith(`${pointer}/`)) return true;
  return false;
}
