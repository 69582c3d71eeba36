import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import { readPosition } from '@millrace/importer-kit/flow-builder';
import { arrayOf, objectOf, textOf } from '@millrace/importer-kit/values';
import {
  type Origin,
  type OriginFlow,
  type OriginLink,
  type OriginNote,
  UniqueNames,
} from '../direct/origin.ts';

/** A variable with what it begins with. */
export interface DifyVariable {
  readonly name: string;
  readonly type: string;
  readonly value: JsonValue;
}

export interface DifyApp {
  readonly flow: OriginFlow;
  /** A chatflow answers one message of a conversation; a workflow runs from its inputs to its outputs. */
  readonly isChat: boolean;
  readonly conversation: readonly DifyVariable[];
  readonly environment: readonly DifyVariable[];
  /** What the chat shows and takes besides messages. */
  readonly features: JsonObject;
}

/** Whether a value is an export of Dify. */
export function isDify(value: JsonValue): boolean {
  if (!isJsonObject(value) || !isJsonObject(value.app ?? null)) return false;
  return (
    value.kind === 'app' || isJsonObject(value.workflow ?? null) || isJsonObject(value.model_config ?? null)
  );
}

/** How many nodes an export has. */
export function difyNodes(value: JsonValue): number {
  return arrayOf(graphOf(value).nodes).length;
}

function graphOf(value: JsonValue): JsonObject {
  return objectOf(objectOf(objectOf(value).workflow).graph);
}

/** Reads an export of Dify without trusting anything in it. */
export function readDify(value: JsonValue): DifyApp {
  const app = objectOf(objectOf(value).app);
  const workflow = objectOf(objectOf(value).workflow);
  const graph = graphOf(value);
  const names = new UniqueNames();
  const origins = new Map<string, Origin>();
  const notes: OriginNote[] = [];
  for (const [index, each] of arrayOf(graph.nodes).entries()) {
    if (!isJsonObject(each)) continue;
    const data = objectOf(each.data);
    const id = textOf(each.id) ?? `node_${index + 1}`;
    const type = textOf(data.type) ?? textOf(each.type) ?? '';
    const position = placeOf(each);
    if (type === 'custom-note') {
      notes.push({
        name: names.of(`Note ${notes.length + 1}`),
        type,
        text: noteText(data.text),
        position,
        ...sizeOf(each, data),
      });
      continue;
    }
    if (origins.has(id)) continue;
    const parent = textOf(each.parentId) ?? textOf(data.iteration_id) ?? textOf(data.loop_id);
    const name = names.of(
      textOf(data.title) ?? (HELPERS.has(type) ? `${type} ${id}` : type === '' ? id : type),
    );
    origins.set(id, { id, name, type, parent, position, data });
  }
  const links = arrayOf(graph.edges).flatMap((edge) => linkOf(objectOf(edge), origins));
  return {
    flow: { name: textOf(app.name) ?? '', origins: withParents(origins), links, notes },
    isChat: app.mode === 'advanced-chat' || app.mode === 'chat',
    conversation: variablesIn(workflow.conversation_variables),
    environment: variablesIn(workflow.environment_variables),
    features: objectOf(workflow.features),
  };
}

/** Nodes that only mark where the body of a loop begins. */
const HELPERS = new Set(['iteration-start', 'loop-start']);

/** A parent that doesn't exist, or is its own descendant, isn't one. */
function withParents(origins: ReadonlyMap<string, Origin>): ReadonlyMap<string, Origin> {
  const known = new Map<string, Origin>();
  for (const [id, origin] of origins) {
    let steps = 0;
    let at = origin.parent;
    while (at !== null && at !== id && steps < MAX_LEVELS) {
      at = origins.get(at)?.parent ?? null;
      steps += 1;
    }
    const isLoop =
      origin.parent !== null && /^(?:iteration|loop)$/.test(origins.get(origin.parent)?.type ?? '');
    known.set(id, at === null && isLoop ? origin : { ...origin, parent: null });
  }
  return known;
}

/** Loops within loops, at most. */
const MAX_LEVELS = 10;

function linkOf(edge: JsonObject, origins: ReadonlyMap<string, Origin>): readonly OriginLink[] {
  const [from, to] = [textOf(edge.source), textOf(edge.target)];
  if (from === null || to === null || !origins.has(from) || !origins.has(to)) return [];
  return [{ from, to, handle: textOf(edge.sourceHandle) ?? 'source' }];
}

function placeOf(node: JsonObject) {
  const { x, y } = objectOf(node.positionAbsolute ?? node.position);
  return readPosition([x ?? 0, y ?? 0]);
}

function sizeOf(node: JsonObject, data: JsonObject): { readonly width: number; readonly height: number } {
  const [width, height] = [node.width ?? data.width, node.height ?? data.height];
  return {
    width: typeof width === 'number' && width > 0 && width < 1e5 ? Math.round(width) : 240,
    height: typeof height === 'number' && height > 0 && height < 1e5 ? Math.round(height) : 160,
  };
}

/** The text of a note, which Dify keeps as the state of its editor. */
function noteText(value: JsonValue | undefined): string {
  const text = textOf(value) ?? '';
  if (!text.startsWith('{')) return text;
  const texts = [...text.matchAll(/"text":"((?:[^"\\]|\\.)*)"|"type":"(paragraph|linebreak|listitem)"/g)];
  return texts
    .map(([, found, line]) => (line === undefined ? unescaped(found ?? '') : '\n'))
    .join('')
    .replaceAll(/\n{2,}/g, '\n')
    .trim();
}

function unescaped(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}

function variablesIn(list: JsonValue | undefined): readonly DifyVariable[] {
  return arrayOf(list)
    .map(objectOf)
    .flatMap(({ name, value_type: type, value }) => {
      const known = textOf(name);
      return known === null ? [] : [{ name: known, type: textOf(type) ?? 'string', value: value ?? null }];
    });
}
