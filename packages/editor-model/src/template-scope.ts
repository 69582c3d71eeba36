import {
  isJsonArray,
  type JsonObject,
  type JsonValue,
  LOOP_TYPES,
  listPaths,
  own,
  parseTemplate,
  RenderLimitError,
  render,
  type TemplateScope,
  templateStep,
} from '@millrace/engine';
import { presentMessage } from '@millrace/messages/english';
import { type FlowPart, loopsAround, upstreamOf } from './flow-scope.ts';
import type { NamesOf } from './known-names.ts';
import { type DataSource, membersOf, type PathHint, type Preview } from './known-values.ts';

/** Known values that a node's templates can read, from the sample and the last execution. */
export interface KnownValues {
  readonly sample: JsonValue;
  readonly outputs: { readonly [nodeId: string]: JsonObject | undefined };
  /** What outputs look like that aren't known yet. */
  readonly namesOf?: NamesOf;
}

const MAX_HINTS = 600;
/** Per value, so that a large one leaves room for the others. */
const MAX_HINTS_OF_ONE = 150;
const MAX_DEPTH = 6;

/** All paths that a node's templates can read, nearest node first. */
export function listHints(flow: FlowPart, nodeId: string, known: KnownValues): readonly PathHint[] {
  const hints: PathHint[] = [];
  const [outputs, others] = listSources(flow, nodeId, known);
  const add = ({ path, value, isExample }: DataSource) => {
    const found = hintsOf(path, value);
    hints.push(...(isExample ? found.map((hint) => ({ ...hint, value: undefined })) : found));
  };
  outputs.forEach(add);
  // Reserve room for the others, however large the outputs are.
  hints.length = Math.min(hints.length, MAX_HINTS);
  others.forEach(add);
  return hints;
}

/** What a node's templates can read: loop items and outputs, nearest node first; then what every node can read. */
export function listSources(
  flow: FlowPart,
  nodeId: string,
  known: KnownValues,
): readonly [outputs: readonly DataSource[], others: readonly DataSource[]] {
  const outputs: DataSource[] = [];
  const add = (path: string, value: JsonValue | undefined, isExample = false) =>
    outputs.push({ path, value, nodeId: null, isExample });
  const loop = loopOf(flow, nodeId);
  if (loop !== null) {
    const item = itemOf(flow, loop, known);
    const names = item === undefined ? itemOf(flow, loop, asIfRun(flow, loop, known)) : undefined;
    add('item', item ?? names, names !== undefined);
    add('index', 0);
  }
  for (const name of ARGUMENTS[typeOf(flow, nodeId)] ?? []) add(`args.${name}`, undefined);
  const readable = readableFrom(flow, nodeId);
  for (const id of [...readable].reverse()) {
    if (isTrigger(flow, id)) continue;
    const output = own(known.outputs, id);
    const value = output ?? known.namesOf?.(id);
    const isExample = output === undefined && value !== undefined;
    outputs.push({ path: `nodes${templateStep(id)}.output`, value, nodeId: id, isExample });
  }
  const [trigger = null] = startsOf(flow, nodeId);
  const names = known.sample === null ? dataNames(flow, nodeId, known) : null;
  const vars = Object.entries(flow.settings?.vars ?? {});
  const request = requestOf(flow, trigger);
  const others = [
    { path: 'trigger.data', value: names ?? known.sample, nodeId: trigger, isExample: names !== null },
    ...(request === null
      ? []
      : [{ path: 'trigger.request', value: request, nodeId: trigger, isExample: true }]),
    ...vars.map(([name, value]) => ({ path: `vars${templateStep(name)}`, value, nodeId: null })),
    { path: 'execution.id', value: undefined, nodeId: null },
    { path: 'now', value: undefined, nodeId: null },
  ];
  return [outputs, others.map((source) => ({ isExample: false, ...source }))];
}

/** The nodes whose outputs a node's templates can read. */
function readableFrom(flow: FlowPart, nodeId: string): readonly string[] {
  // A webhook's response is rendered after all nodes have ended, and an iteration's result after those in the loop.
  if (isTrigger(flow, nodeId)) return flow.nodes.map(({ id }) => id);
  return [
    ...upstreamOf(flow, nodeId),
    ...flow.nodes.filter(({ parentId }) => parentId === nodeId).map(({ id }) => id),
  ];
}

/** The triggers that a node may be started by; all, if nothing leads to it yet. */
function startsOf(flow: FlowPart, nodeId: string): readonly string[] {
  const isStart = (id: string) => isTrigger(flow, id);
  if (isStart(nodeId)) return [nodeId];
  const before = upstreamOf(flow, nodeId).filter(isStart);
  return before.length > 0 ? before : flow.nodes.map(({ id }) => id).filter(isStart);
}

/** The names in the data of the triggers that a node may be started by; null if unknown. */
function dataNames(flow: FlowPart, nodeId: string, { namesOf }: KnownValues): JsonObject | null {
  const all = startsOf(flow, nodeId).map((id) => namesOf?.(id)?.data);
  const names = all.flatMap((each) => Object.entries((each ?? {}) as JsonObject));
  return names.length === 0 ? null : Object.fromEntries(names);
}

/** What would be known if everything had run and returned its names. */
function asIfRun(flow: FlowPart, nodeId: string, known: KnownValues): KnownValues {
  const { namesOf, outputs, sample } = known;
  const named = flow.nodes.map(({ id }): [string, JsonObject | undefined] => [
    id,
    own(outputs, id) ?? namesOf?.(id),
  ]);
  return { sample: sample ?? dataNames(flow, nodeId, known), outputs: Object.fromEntries(named) };
}

/** What a webhook keeps of its calls besides the body, with unknown values; null if nothing. */
function requestOf({ nodes }: FlowPart, trigger: string | null): JsonObject | null {
  const { headers, query, path, methods } = nodes.find(({ id }) => id === trigger)?.data?.config ?? {};
  const listed = [headers, query, methods].map((each) =>
    each !== undefined && isJsonArray(each) ? each : [],
  );
  const params = [...(typeof path === 'string' ? path : '').matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  if (listed.every(({ length }) => length === 0) && params.length === 0) return null;
  const [ofHeaders = [], ofQuery = []] = listed.map((names) => names.map(String));
  const blank = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, '']));
  const lower = ofHeaders.map((name) => name.toLowerCase());
  return { method: 'POST', headers: blank(lower), query: blank(ofQuery), params: blank(params) };
}

/** Values that a waiting node creates at run time for its own settings. */
const ARGUMENTS: { readonly [type: string]: readonly string[] | undefined } = {
  'wait.callback': ['callback_url'],
  'wait.approval': ['approval_url', 'approve_url', 'reject_url'],
  'ai.agent': ['approval_url', 'approve_url', 'reject_url', 'tools'],
};

function typeOf({ nodes }: FlowPart, id: string): string {
  return nodes.find((node) => node.id === id)?.type ?? '';
}

/** The loop whose iterations a node's templates read: the one around it; for a loop, which renders its result, itself. */
function loopOf(flow: FlowPart, nodeId: string): string | null {
  if (LOOP_TYPES.has(typeOf(flow, nodeId))) return nodeId;
  return loopsAround(flow, nodeId)[0] ?? null;
}

function isTrigger(flow: FlowPart, id: string): boolean {
  return typeOf(flow, id).startsWith('trigger.');
}

/** The first item of a loop, if the source of `items` is known. */
function itemOf(flow: FlowPart, loop: string, known: KnownValues): JsonValue | undefined {
  const items = flow.nodes.find(({ id }) => id === loop)?.data?.config?.items;
  // `items` is rendered outside the loop.
  const around = loopsAround(flow, loop);
  // A draft may contain a loop inside itself.
  if (around.includes(loop)) return undefined;
  const outer = around[0] ?? null;
  const preview = typeof items === 'string' ? previewIn(outer, items, flow, known) : null;
  const list = preview?.kind === 'value' ? preview.value : items;
  return list !== undefined && isJsonArray(list) ? list[0] : undefined;
}

/** A value's path and those nested in it, breadth first. */
function hintsOf(path: string, value: JsonValue | undefined): readonly PathHint[] {
  let found: PathHint[] = [{ path, value }];
  const hints = [...found];
  for (let depth = 0; depth < MAX_DEPTH && found.length > 0; depth += 1) {
    found = found.flatMap((hint) => membersOf(hint)).slice(0, MAX_HINTS_OF_ONE - hints.length);
    hints.push(...found);
  }
  return hints;
}

const MAX_PREVIEW_BYTES = 100_000;

/** A template rendered with the known values; null if the string contains no template. */
export function previewOf(text: string, flow: FlowPart, nodeId: string, known: KnownValues): Preview | null {
  return previewIn(loopOf(flow, nodeId), text, flow, known);
}

function previewIn(loop: string | null, text: string, flow: FlowPart, known: KnownValues): Preview | null {
  if (!text.includes('{{')) return null;
  const parsed = parseTemplate(text);
  if (!parsed.ok) return { kind: 'mistake', mistake: presentMessage(parsed.error.message) };
  const item = loop === null ? undefined : itemOf(flow, loop, known);
  const paths = listPaths(parsed.template).map(({ names }) => names);
  const roots = new Set(paths.map(([root]) => root));
  // Without a sample the trigger's data is unknown, and without a list so are its items.
  let isUnknown =
    roots.has('args') ||
    paths.some(([root, part]) => root === 'trigger' && (known.sample === null || part !== 'data')) ||
    (loop !== null && item === undefined && roots.has('item'));
  const scope: TemplateScope = {
    triggerData: known.sample,
    executionId: 1,
    vars: (flow.settings?.vars ?? {}) as JsonObject,
    timezone: flow.settings?.timezone ?? null,
    nowMs: Date.now(),
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
