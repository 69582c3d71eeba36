import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, tryParseJson } from '@millrace/engine';
import { readPosition } from '@millrace/importer-kit/flow-builder';
import { arrayOf, objectOf, textOf } from '@millrace/importer-kit/values';
import {
  type Origin,
  type OriginFlow,
  type OriginLink,
  type OriginNote,
  UniqueNames,
} from '../direct/origin.ts';

/** A component that another one takes: a model, a memory, a prompt, a tool. */
export interface FlowisePart {
  readonly part: string;
  readonly of: string;
  /** The input that it is connected to. */
  readonly input: string;
}

export interface FlowiseFlow {
  readonly flow: OriginFlow;
  readonly parts: readonly FlowisePart[];
  /** A flow of agents, in which nodes follow each other; else one of components that belong to each other. */
  readonly isAgentflow: boolean;
}

/** The flow in an export, which may be a member of it, also as a text. */
function flowIn(value: JsonValue): JsonObject {
  const outer = objectOf(value);
  const { flowData } = outer;
  if (outer.nodes !== undefined || flowData === undefined) return outer;
  const inner = typeof flowData === 'string' ? tryParseJson(flowData) : flowData;
  return inner === undefined || !isJsonObject(inner) ? outer : { name: outer.name ?? null, ...inner };
}

/** Whether a value is an export of Flowise. */
export function isFlowise(value: JsonValue): boolean {
  const { nodes, edges } = flowIn(value);
  if (nodes === undefined || !isJsonArray(nodes) || edges === undefined || !isJsonArray(edges)) return false;
  return nodes.some((node) => {
    const { name, category, inputParams, inputs } = objectOf(objectOf(node).data);
    const isComponent =
      textOf(category) !== null || inputParams !== undefined || (textOf(name) ?? '').endsWith('Agentflow');
    return textOf(name) !== null && isComponent && (inputs === undefined || isJsonObject(inputs));
  });
}

export function flowiseNodes(value: JsonValue): number {
  return arrayOf(flowIn(value).nodes).length;
}

/** Reads an export of Flowise without trusting anything in it. */
export function readFlowise(value: JsonValue): FlowiseFlow {
  const given = flowIn(value);
  const names = new UniqueNames();
  const origins = new Map<string, Origin>();
  const notes: OriginNote[] = [];
  for (const [index, each] of arrayOf(given.nodes).entries()) {
    if (!isJsonObject(each)) continue;
    const data = objectOf(each.data);
    const id = textOf(each.id) ?? textOf(data.id) ?? `node_${index + 1}`;
    const type = textOf(data.name) ?? textOf(each.type) ?? '';
    const { x, y } = objectOf(each.positionAbsolute ?? each.position);
    const position = readPosition([x ?? 0, y ?? 0]);
    const inputs = objectOf(data.inputs);
    if (type.startsWith('stickyNote')) {
      const name = names.of(`Note ${notes.length + 1}`);
      notes.push({ name, type, text: textOf(inputs.note) ?? '', position, width: 240, height: 160 });
      continue;
    }
    if (origins.has(id)) continue;
    const name = names.of(textOf(data.label) ?? (type === '' ? id : type));
    const parent = textOf(each.parentNode) ?? textOf(each.parentId);
    origins.set(id, { id, name, type, parent, position, data: { ...inputs, ...kindOf(data) } });
  }
  const isAgentflow = [...origins.values()].some(({ type }) => type.endsWith('Agentflow'));
  const links: OriginLink[] = [];
  const parts: FlowisePart[] = [];
  for (const edge of arrayOf(given.edges).map(objectOf)) {
    const [from, to] = [textOf(edge.source), textOf(edge.target)];
    if (from === null || to === null || !origins.has(from) || !origins.has(to)) continue;
    const [, handle = ''] = /-output-([^-]+)/.exec(textOf(edge.sourceHandle) ?? '') ?? [];
    if (isAgentflow) links.push({ from, to, handle });
    else {
      const [, input = ''] = /-input-([^-]+)/.exec(textOf(edge.targetHandle) ?? '') ?? [];
      parts.push({ part: from, of: to, input });
    }
  }
  const name = textOf(given.name) ?? textOf(objectOf(given.chatflow).name) ?? '';
  return { flow: { name, origins: withParents(origins), links, notes }, parts, isAgentflow };
}

/** What tells what a component is, below a name that no setting has. */
function kindOf(data: JsonObject): JsonObject {
  const category = textOf(data.category);
  return category === null ? {} : { [CATEGORY]: category };
}

export const CATEGORY = '(category)';

/** Only iterations have nodes in them, and none is in itself. */
function withParents(origins: ReadonlyMap<string, Origin>): ReadonlyMap<string, Origin> {
  return new Map(
    [...origins].map(([id, origin]) => {
      const parent = origin.parent === null ? undefined : origins.get(origin.parent);
      const isIn = parent?.type === 'iterationAgentflow' && parent.id !== id && parent.parent === null;
      return [id, isIn ? origin : { ...origin, parent: null }];
    }),
  );
}
