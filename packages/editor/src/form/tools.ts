import { initialOf, type Schema, shapeOf } from '@millrace/editor-model/field-shape.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import type { FormContextValue } from './form-context.tsx';

/** What a card shows of a tool, whatever its value holds. */
export interface ShownTool {
  readonly kind: 'node' | 'workflow';
  readonly name: string;
  readonly description: string;
  /** Of a node. */
  readonly type: string;
  readonly config: JsonObject;
  /** 0: none yet. */
  readonly workflowId: number;
}

export function toolOf({ kind, name, description, type, config, workflow_id: id }: JsonObject): ShownTool {
  const textOf = (value: JsonValue | undefined) => (typeof value === 'string' ? value : '');
  return {
    kind: kind === 'workflow' ? 'workflow' : 'node',
    ...{ name: textOf(name), description: textOf(description), type: textOf(type) },
    config: config !== undefined && isJsonObject(config) ? config : {},
    workflowId: typeof id === 'number' ? id : 0,
  };
}

/**
 * A new tool, named after what it calls.
 * @param chosen a node type, or a workflow's ID and name
 */
export function addTool(
  item: Schema,
  tools: readonly JsonValue[],
  chosen: string,
  nodes: FormContextValue['nodeSchemas'],
): JsonObject {
  const workflow = /^(\d+) (.*)$/s.exec(chosen);
  const start = startOf(item, workflow === null ? 'node' : 'workflow');
  const taken = tools.map((tool) => (isJsonObject(tool) ? tool.name : undefined));
  if (workflow !== null) {
    const [, id = '', name = ''] = workflow;
    return { ...start, name: freeToolName(name, `workflow_${id}`, taken), workflow_id: Number(id) };
  }
  const schema = nodes?.get(chosen)?.schema;
  const config = schema === undefined ? {} : initialOf(schema);
  return { ...start, name: freeToolName(chosen, 'tool', taken), type: chosen, config };
}

/** Every member of a new tool: models need all of them. */
function startOf(item: Schema, kind: ShownTool['kind']): JsonObject {
  const shape = shapeOf(item);
  const variant = shape.kind === 'variants' ? shape.variants.find(({ name }) => name === kind) : undefined;
  const inner = variant === undefined ? undefined : shapeOf(variant.schema);
  if (inner?.kind !== 'group') return { kind };
  return {
    ...Object.fromEntries(inner.fields.map(({ name, schema }) => [name, initialOf(schema)])),
    kind,
  };
}

const MAX_NAME = 60;

/** A name that models accept and no other tool has; `otherwise` if nothing of the text can be used. */
function freeToolName(text: string, otherwise: string, taken: readonly (JsonValue | undefined)[]): string {
  const plain = text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^[_0-9]+|_+$/g, '')
    .slice(0, MAX_NAME);
  const name = plain === '' || plain === 'json' ? otherwise : plain;
  if (!taken.includes(name)) return name;
  for (let number = 2; ; number += 1) if (!taken.includes(`${name}_${number}`)) return `${name}_${number}`;
}
