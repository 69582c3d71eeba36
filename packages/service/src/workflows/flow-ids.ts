import {
  type Flow,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  type NodeRegistry,
} from '@millrace/engine';
import { isOwnType } from '@millrace/own-connectors/names';

/** What flows refer to by an id. */
export type NamedKind = 'workflows' | 'credentials';
/** The id that replaces this one. */
export type ChangeId = (kind: NamedKind, id: number) => number;

/** A template that is only a constant. */
const CONSTANT = /^\{\{\s*vars\.([A-Za-z_]\w*)\s*\}\}$/;

/**
 * Replaces the ids of workflows and credentials in a flow where the schemas of its nodes have one, directly or through a constant of the
 * flow. Everything else stays, even if it looks like an id. Returns the same object if nothing changes.
 */
export function changeFlowIds(flow: Flow, registry: NodeRegistry, change: ChangeId): Flow {
  const walk = new Walk(flow.settings?.vars ?? {}, registry, change);
  const nodes = flow.nodes.map((node) => {
    const { data } = node;
    const schema = schemaOfType(node.type, registry);
    if (schema === undefined || data?.config === undefined) return node;
    const config = walk.value(data.config as JsonValue, schema);
    return config === data.config ? node : { ...node, data: { ...data, config } };
  });
  const settings = walk.settings(flow.settings);
  if (settings === flow.settings && nodes.every((node, index) => node === flow.nodes[index])) return flow;
  return { ...flow, nodes, ...(settings === undefined ? {} : { settings }) } as Flow;
}

class Walk {
  readonly #vars: JsonObject;
  readonly #registry: NodeRegistry;
  readonly #change: ChangeId;
  /** Constants that are used as an id, each of which is changed once. */
  readonly #constants = new Map<string, number>();

  constructor(vars: JsonObject, registry: NodeRegistry, change: ChangeId) {
    this.#vars = vars;
    this.#registry = registry;
    this.#change = change;
  }

  /** The value with its ids replaced, or the same value. */
  value(value: JsonValue, schema: JsonSchema): JsonValue {
    const kind = kindOf(schema);
    if (kind !== null) return this.#id(value, kind);
    let changed = value;
    for (const part of alternatives(schema)) changed = this.value(changed, part);
    if (isJsonArray(changed)) return this.#items(changed, schema);
    return isJsonObject(changed) ? this.#members(changed, schema) : changed;
  }

  /** Call it after the nodes, whose templates show which constants are ids. */
  settings(settings: Flow['settings']): Flow['settings'] {
    if (settings === undefined) return undefined;
    const { error_workflow_id: errorWorkflowId } = settings;
    const errorId = errorWorkflowId === undefined ? undefined : this.#change('workflows', errorWorkflowId);
    if (errorId === errorWorkflowId && this.#constants.size === 0) return settings;
    return {
      ...settings,
      ...(errorId === undefined ? {} : { error_workflow_id: errorId }),
      ...(this.#constants.size === 0
        ? {}
        : { vars: { ...settings.vars, ...Object.fromEntries(this.#constants) } }),
    };
  }

  #id(value: JsonValue, kind: NamedKind): JsonValue {
    if (isId(value)) return this.#change(kind, value);
    const name = typeof value === 'string' ? CONSTANT.exec(value)?.[1] : undefined;
    const constant = name === undefined || !Object.hasOwn(this.#vars, name) ? undefined : this.#vars[name];
    if (name === undefined || constant === undefined || !isId(constant)) return value;
    const changed = this.#change(kind, constant);
    if (changed !== constant) this.#constants.set(name, changed);
    return value;
  }

  #items(items: readonly JsonValue[], { items: schema }: JsonSchema): JsonValue {
    if (!isSchema(schema)) return items;
    const changed = items.map((item) => this.value(item, schema));
    return changed.every((item, index) => item === items[index]) ? items : changed;
  }

  #members(members: JsonObject, { properties }: JsonSchema): JsonValue {
    if (!isSchema(properties)) return members;
    const changed = Object.entries(members).flatMap(([name, member]): [string, JsonValue][] => {
      const schema = Object.hasOwn(properties, name) ? this.#schemaOf(properties[name], members) : undefined;
      const now = schema === undefined ? member : this.value(member, schema);
      return now === member ? [] : [[name, now]];
    });
    return changed.length === 0 ? members : { ...members, ...Object.fromEntries(changed) };
  }

  /** The configuration of another node, as of a tool, has the schema of the type beside it. */
  #schemaOf(schema: unknown, members: JsonObject): JsonSchema | undefined {
    if (!isSchema(schema)) return undefined;
    const besides = schema['x-node-config'];
    if (typeof besides !== 'string') return schema;
    const type = members[besides];
    return typeof type === 'string' ? schemaOfType(type, this.#registry) : undefined;
  }
}

/** Nodes of an organisation's own connectors refer to a credential only, so the registry needn't know them. */
const OF_OWN: JsonSchema = { properties: { credential_id: { 'x-credential': [] } } };

function schemaOfType(type: string, registry: NodeRegistry): JsonSchema | undefined {
  return registry(type)?.configSchema ?? (isOwnType(type) ? OF_OWN : undefined);
}

/** 0 is the initial value in the editor's form. */
function isId(value: JsonValue): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

function kindOf(schema: JsonSchema): NamedKind | null {
  if (schema['x-workflow'] === true) return 'workflows';
  return schema['x-credential'] === undefined ? null : 'credentials';
}

function alternatives({ anyOf, oneOf, allOf }: JsonSchema): JsonSchema[] {
  return [anyOf, oneOf, allOf].flatMap((parts) => (Array.isArray(parts) ? parts.filter(isSchema) : []));
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
