import {
  type Flow,
  isJsonArray,
  isJsonObject,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  LOOP_TYPES,
  listPaths,
  parseTemplate,
  RenderLimitError,
  render,
  stringifyJson,
  type TemplateScope,
  templateStep,
} from '@millrace/engine';
import { presentMessage } from '@millrace/messages/english';
import type { Said } from '@millrace/ui/i18n/translate-message.ts';
import { own } from '../model/flow-value.ts';

/** What is known of the values a node's templates read: from the sample and from the last run. */
export interface KnownValues {
  readonly sample: JsonValue;
  readonly outputs: { readonly [nodeId: string]: JsonObject | undefined };
}

/** A path that a template can read, with what is known to stand there. */
export interface PathHint {
  readonly path: string;
  /** Undefined: nothing is known of it yet. */
  readonly value: JsonValue | undefined;
}

const MAX_HINTS = 600;
/** Of one value, so that a large one leaves room for the others. */
const MAX_HINTS_OF_ONE = 150;
const MAX_DEPTH = 6;
/** Of a list, the first item shows what the others are like. */
const MAX_ITEMS = 1;

type FlowPart = Pick<Flow, 'nodes' | 'edges' | 'settings'>;

/** Ids of the nodes that have ended when a node starts: those before it, also before the loops around it. */
export function upstreamOf({ nodes, edges }: FlowPart, nodeId: string): readonly string[] {
  const found = new Set<string>();
  const open = [nodeId];
  const parentOf = new Map(nodes.map((node) => [node.id, node.parentId ?? null]));
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const before = edges.filter(({ target }) => target === id).map(({ source }) => source);
    const parent = parentOf.get(id) ?? null;
    for (const next of parent === null ? before : [...before, parent]) {
      if (found.has(next) || next === nodeId) continue;
      found.add(next);
      open.push(next);
    }
  }
  // A loop around the node has not ended, so its output cannot be read; what stands before it can.
  const around = new Set(loopsAround({ nodes, edges }, nodeId));
  return nodes.map(({ id }) => id).filter((id) => found.has(id) && !around.has(id));
}

/** Ids of the loops a node is inside of, from the innermost out. */
export function loopsAround({ nodes }: FlowPart, nodeId: string): readonly string[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const loops: string[] = [];
  for (let node = byId.get(nodeId); node?.parentId != null; node = byId.get(node.parentId)) {
    const parent = byId.get(node.parentId);
    if (parent === undefined || loops.includes(parent.id)) break;
    if (LOOP_TYPES.has(parent.type)) loops.push(parent.id);
  }
  return loops;
}

/** Every path that a node's templates can read, nearest node first. */
export function listHints(flow: FlowPart, nodeId: string, known: KnownValues): readonly PathHint[] {
  const hints: PathHint[] = [];
  const add = (path: string, value: JsonValue | undefined) => hints.push(...hintsOf(path, value));
  const loop = loopOf(flow, nodeId);
  if (loop !== null) {
    add('item', itemOf(flow, loop, known));
    add('index', 0);
  }
  for (const name of ARGUMENTS[typeOf(flow, nodeId)] ?? []) add(`args.${name}`, undefined);
  // What a webhook answers is made when all have ended, and what an iteration comes to when those inside have.
  const readable = isTrigger(flow, nodeId)
    ? flow.nodes.map(({ id }) => id)
    : [
        ...upstreamOf(flow, nodeId),
        ...flow.nodes.filter(({ parentId }) => parentId === nodeId).map(({ id }) => id),
      ];
  for (const id of [...readable].reverse()) {
    if (isTrigger(flow, id)) continue;
    add(`nodes${templateStep(id)}.output`, known.outputs[id]);
  }
  // Whatever the outputs have, these have room.
  hints.length = Math.min(hints.length, MAX_HINTS);
  add('trigger.data', known.sample);
  for (const [name, value] of Object.entries(flow.settings?.vars ?? {}))
    add(`vars${templateStep(name)}`, value);
  add('execution.id', undefined);
  return hints;
}

/** What a node that waits makes when it runs, for its own settings. */
const ARGUMENTS: { readonly [type: string]: readonly string[] | undefined } = {
  'wait.callback': ['callback_url'],
  'wait.approval': ['approval_url', 'approve_url', 'reject_url'],
};

function typeOf({ nodes }: FlowPart, id: string): string {
  return nodes.find((node) => node.id === id)?.type ?? '';
}

/** The loop whose iterations a node's templates read: the one around it; of a loop, whose result is made there, itself. */
function loopOf(flow: FlowPart, nodeId: string): string | null {
  if (LOOP_TYPES.has(typeOf(flow, nodeId))) return nodeId;
  return loopsAround(flow, nodeId)[0] ?? null;
}

function isTrigger(flow: FlowPart, id: string): boolean {
  return typeOf(flow, id).startsWith('trigger.');
}

/** The first item of a loop, when what its `items` reads is known. */
function itemOf(flow: FlowPart, loop: string, known: KnownValues): JsonValue | undefined {
  const items = flow.nodes.find(({ id }) => id === loop)?.data?.config?.items;
  // The list stands outside of the loop.
  const around = loopsAround(flow, loop);
  // A draft may say that a loop is inside of itself.
  if (around.includes(loop)) return undefined;
  const outer = around[0] ?? null;
  const preview = typeof items === 'string' ? previewIn(outer, items, flow, known) : null;
  const list = preview?.kind === 'value' ? preview.value : items;
  return list !== undefined && isJsonArray(list) ? list[0] : undefined;
}

/** A value's own path and those inside of it, all names of one depth before those of the next. */
function hintsOf(path: string, value: JsonValue | undefined): readonly PathHint[] {
  let found: PathHint[] = [{ path, value }];
  const hints = [...found];
  for (let depth = 0; depth < MAX_DEPTH && found.length > 0; depth += 1) {
    found = found.flatMap(membersOf).slice(0, MAX_HINTS_OF_ONE - hints.length);
    hints.push(...found);
  }
  return hints;
}

function membersOf({ path, value }: PathHint): readonly PathHint[] {
  if (value === undefined || value === null || isRawNumber(value)) return [];
  if (isJsonArray(value)) {
    return value.slice(0, MAX_ITEMS).map((item, index) => ({ path: `${path}[${index}]`, value: item }));
  }
  if (!isJsonObject(value)) return [];
  return Object.entries(value).map(([name, member]) => ({ path: path + templateStep(name), value: member }));
}

export type Preview =
  | { readonly kind: 'value'; readonly value: JsonValue }
  /** The template is wrong, and where. */
  | { readonly kind: 'mistake'; readonly mistake: Said }
  /** It reads what is not known before the workflow has run. */
  | { readonly kind: 'unknown' }
  /** More than can be shown. */
  | { readonly kind: 'large' };

const MAX_PREVIEW_BYTES = 100_000;

/** What a template comes to with the values that are known; null when the text has no template in it. */
export function previewOf(text: string, flow: FlowPart, nodeId: string, known: KnownValues): Preview | null {
  return previewIn(loopOf(flow, nodeId), text, flow, known);
}

function previewIn(loop: string | null, text: string, flow: FlowPart, known: KnownValues): Preview | null {
  if (!text.includes('{{')) return null;
  const parsed = parseTemplate(text);
  if (!parsed.ok) return { kind: 'mistake', mistake: presentMessage(parsed.error.message) };
  const item = loop === null ? undefined : itemOf(flow, loop, known);
  const roots = new Set(listPaths(parsed.template).map(({ names: [root] }) => root));
  // Without a sample nothing is known of what the trigger will bring, and without a list nothing of its items.
  let isUnknown =
    roots.has('args') ||
    (known.sample === null && roots.has('trigger')) ||
    (loop !== null && item === undefined && roots.has('item'));
  const scope: TemplateScope = {
    triggerData: known.sample,
    executionId: 1,
    vars: (flow.settings?.vars ?? {}) as JsonObject,
    timezone: flow.settings?.timezone ?? null,
    nodeOutput(id) {
      const output = own(known.outputs, id);
      if (output === undefined) isUnknown = true;
      return output ?? null;
    },
    ...(loop === null ? {} : { item: item ?? null, index: 0 }),
  };
  try {
    const value = render(parsed.template, scope, MAX_PREVIEW_BYTES);
    return isUnknown ? { kind: 'unknown' } : { kind: 'value', value };
  } catch (error) {
    if (error instanceof RenderLimitError) return { kind: isUnknown ? 'unknown' : 'large' };
    throw error;
  }
}

const MAX_SHOWN = 200;

/** A value in one short line. */
export function showValue(value: JsonValue): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : stringifyJson(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
