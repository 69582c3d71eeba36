import { type Message, message } from '@millrace/messages';
import { parseTemplates, type Template } from '@millrace/templates/template';
import { readPath } from '@millrace/templates/template-filter';
import type { JsonSchema } from '@millrace/values/json';
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  joinPointer,
  pointerTokens,
  setOwn,
} from '@millrace/values/json';
import { findDefinitionProblems, placed } from './config-problems.ts';
import type { NodeDefinition, NodeRegistry } from './node.ts';
import { findSchemaFaults } from './schema-faults.ts';

/**
 * What a config still lacks for activation although it matches its schema. A run fails on such a gap only when it reaches it, so a gap
 * doesn't stop an active workflow from running.
 */
export interface ConfigGap {
  readonly pointer: string;
  readonly code: string;
  readonly message: Message;
}

/** Where templates that are just a constant of the workflow were replaced by its value. */
interface Known {
  /** By pointer, the constant that was inserted there. */
  readonly constants: ReadonlyMap<string, string>;
  /** By pointer, the empty constant that a string starts with. */
  readonly beginnings: ReadonlyMap<string, string>;
}

/**
 * Checks the members that a node's schema marks:
 * - `x-filled`: must not be empty; with `x-when` only while other members make it relevant; with `x-url` it must not start with an empty
 * constant either,
 * - `x-json-schema`: contains a JSON Schema,
 * - `x-node-config`: contains the config of a node, whose type is in the member named there.
 */
export function findConfigGaps(
  definition: NodeDefinition,
  config: JsonObject,
  template: Template,
  { registry, vars }: { readonly registry: NodeRegistry; readonly vars: JsonObject },
): readonly ConfigGap[] {
  const constants = new Map<string, string>();
  const beginnings = new Map<string, string>();
  const known = fillIn(config, template, '', { vars, constants, beginnings }) as JsonObject;
  const search = new GapSearch({ constants, beginnings }, registry);
  search.definition(definition, known, '');
  return search.gaps;
}

class GapSearch {
  readonly gaps: ConfigGap[] = [];
  readonly #reported = new Set<string>();
  readonly #known: Known;
  readonly #registry: NodeRegistry;

  constructor(known: Known, registry: NodeRegistry) {
    this.#known = known;
    this.#registry = registry;
  }

  definition(definition: NodeDefinition, config: JsonObject, at: string): void {
    this.#members(definition.configSchema, config, at);
    for (const gap of definition.findGaps?.(config) ?? [])
      this.#add(placed({ ...gap, pointer: `${at}${gap.pointer}`, code: gap.code ?? 'empty_config' }));
  }

  /** Only the first gap per pointer is reported. */
  #add(gap: ConfigGap): void {
    if (this.#reported.has(gap.pointer)) return;
    this.#reported.add(gap.pointer);
    this.gaps.push(gap);
  }

  #members(schema: JsonSchema, object: JsonObject, at: string): void {
    const properties = propertiesOf(schema);
    for (const [name, property] of Object.entries(properties)) {
      const pointer = joinPointer(at, name);
      const value = Object.hasOwn(object, name) ? (object[name] ?? null) : undefined;
      if (property['x-filled'] === true && counts(property, properties, object))
        this.#filled(property, value, pointer);
      if (value === undefined) continue;
      const typeMember = property['x-node-config'];
      if (typeof typeMember === 'string') this.#nodeConfig(object[typeMember] ?? null, value, pointer);
      else if (property['x-json-schema'] !== true) this.#value(property, value, pointer);
      else if (counts(property, properties, object)) this.#jsonSchema(value, pointer);
    }
  }

  #value(schema: JsonSchema, value: JsonValue, at: string): void {
    const alternatives = (schema.anyOf ?? []) as readonly JsonSchema[];
    const chosen = alternatives.find((alternative) => isMeant(alternative, value));
    if (chosen !== undefined) this.#value(chosen, value, at);
    else if (isJsonArray(value)) {
      const items = (schema.items ?? {}) as JsonSchema;
      for (const [index, item] of value.entries()) this.#value(items, item, `${at}/${index}`);
    } else if (isJsonObject(value)) this.#members(schema, value, at);
  }

  #filled(property: JsonSchema, value: JsonValue | undefined, pointer: string): void {
    const constant = this.#known.constants.get(pointer) ?? this.#known.beginnings.get(pointer);
    const isBeginning = property['x-url'] === true && this.#known.beginnings.has(pointer);
    if (!isEmpty(property, value) && !isBeginning) return;
    this.#add(placed({ pointer, code: 'empty_config', message: emptyMessage(property, constant) }));
  }

  #jsonSchema(value: JsonValue, at: string): void {
    if (!isJsonObject(value)) return;
    for (const fault of findSchemaFaults(value)) {
      if (holdsTemplate(readPath(value, pointerTokens(fault.pointer)))) continue;
      const pointer = `${at}${fault.pointer}`;
      this.#add(placed({ pointer, code: 'invalid_schema', message: fault.message }));
    }
  }

  /** The config of another node inside this one: of a tool, or of the message that requests a decision. */
  #nodeConfig(type: JsonValue, config: JsonValue, at: string): void {
    const definition = typeof type === 'string' ? this.#registry(type) : undefined;
    if (definition === undefined || !isJsonObject(config)) return;
    const { template } = parseTemplates(config);
    for (const problem of findDefinitionProblems(definition, config, template, { at })) this.#add(problem);
    this.definition(definition, config, at);
  }
}

function emptyMessage(property: JsonSchema, constant: string | undefined): Message {
  if (property['x-credential'] !== undefined) {
    return constant === undefined
      ? message('flow.no_credential')
      : message('flow.no_credential_of_constant', { constant });
  }
  if (property['x-workflow'] !== undefined) {
    return constant === undefined
      ? message('flow.no_workflow')
      : message('flow.no_workflow_of_constant', { constant });
  }
  return constant === undefined
    ? message('flow.no_value')
    : message('flow.no_value_of_constant', { constant });
}

function isEmpty(property: JsonSchema, value: JsonValue | undefined): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value === 'string') return value.trim() === '';
  if (isJsonArray(value)) return value.length === 0;
  if (isJsonObject(value)) return Object.keys(value).length === 0;
  // 0 is a form's value before anything is selected.
  return value === 0 && (property['x-credential'] !== undefined || property['x-workflow'] !== undefined);
}

/** Whether a member is relevant given the others: `x-when` names the values of other members for which it is. */
function counts(
  property: JsonSchema,
  properties: { readonly [name: string]: JsonSchema },
  object: JsonObject,
): boolean {
  const conditions = (property['x-when'] ?? {}) as { readonly [name: string]: readonly JsonValue[] };
  return Object.entries(conditions).every(([name, allowed]) => {
    const value = Object.hasOwn(object, name) ? object[name] : properties[name]?.default;
    return allowed.some((each) => each === value);
  });
}

/** Whether a value is of one of several kinds, distinguished by their types and by constant members. */
function isMeant(schema: JsonSchema, value: JsonValue): boolean {
  if (schema.type === 'null') return value === null;
  if (schema.type === 'array') return isJsonArray(value);
  if (schema.type !== 'object') return false;
  if (!isJsonObject(value)) return false;
  return Object.entries(propertiesOf(schema)).every(([name, property]) => {
    const allowed = property.const === undefined ? property.enum : [property.const];
    if (!isJsonArray((allowed ?? null) as JsonValue) || !Object.hasOwn(value, name)) return true;
    return (allowed as readonly JsonValue[]).some((each) => each === value[name]);
  });
}

function propertiesOf(schema: JsonSchema): { readonly [name: string]: JsonSchema } {
  return (schema.properties ?? {}) as { readonly [name: string]: JsonSchema };
}

/** The result of a template is known only at run time. */
function holdsTemplate(value: JsonValue): boolean {
  if (typeof value === 'string') return value.includes('{{');
  if (value === null || typeof value !== 'object') return false;
  return Object.values(value).some(holdsTemplate);
}

interface Filling {
  readonly vars: JsonObject;
  readonly constants: Map<string, string>;
  readonly beginnings: Map<string, string>;
}

function fillIn(value: JsonValue, template: Template, at: string, filling: Filling): JsonValue {
  if (template.kind === 'list' && isJsonArray(value)) {
    return value.map((item, index) => {
      const part = template.items[index];
      return part === undefined ? item : fillIn(item, part, `${at}/${index}`, filling);
    });
  }
  if (template.kind === 'record' && isJsonObject(value)) {
    const filled: { [name: string]: JsonValue } = {};
    for (const [name, part] of template.members)
      setOwn(filled, name, fillIn(value[name] ?? null, part, joinPointer(at, name), filling));
    return filled;
  }
  if (template.kind === 'expression') {
    const constant = constantIn(template.expression, filling.vars);
    if (constant === null) return value;
    filling.constants.set(at, constant);
    return filling.vars[constant] ?? null;
  }
  if (template.kind === 'text') {
    const [first] = template.parts;
    const constant = typeof first === 'object' ? constantIn(first, filling.vars) : null;
    if (constant !== null && isEmpty({}, filling.vars[constant])) filling.beginnings.set(at, constant);
  }
  return value;
}

type Expression = Extract<Template, { readonly kind: 'expression' }>['expression'];

/** The constant that is the whole expression; null otherwise. */
function constantIn(expression: Expression, vars: JsonObject): string | null {
  if (expression.kind !== 'path') return null;
  const [root, name, ...rest] = expression.names;
  if (root !== 'vars' || name === undefined || rest.length > 0) return null;
  return Object.hasOwn(vars, name) ? name : null;
}
