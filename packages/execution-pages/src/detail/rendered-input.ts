import {
  type Flow,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  LOOP_TYPES,
  listPaths,
  own,
  parseTemplates,
  RenderLimitError,
  render,
  setOwn,
  type TemplateScope,
} from '@millrace/engine';

const MAX_RENDERED_BYTES = 4_000_000;
/** Loop settings rendered after each iteration, not when the loop starts. */
const AFTER_ITERATIONS = new Set(['result', 'until']);

/** The values an execution's templates read. */
export interface InputSource {
  readonly executionId: number;
  readonly triggerData: JsonValue;
  /** What a webhook's trigger keeps besides the body. */
  readonly request?: JsonValue | undefined;
  readonly outputs: { readonly [nodeId: string]: JsonObject | undefined };
  /** Nodes with unknown outputs: members that read them stay unrendered. */
  readonly unknown?: ReadonlySet<string>;
  /** Inside a loop; undefined if unknown. */
  readonly item?: JsonValue | undefined;
  readonly index?: number | undefined;
  /** When the node started: its `now`; undefined if unknown. */
  readonly nowMs?: number | undefined;
}

/** The settings without those a loop renders after each iteration. */
export function configAtStart(config: JsonObject, type: string): JsonObject {
  if (!LOOP_TYPES.has(type)) return config;
  return Object.fromEntries(Object.entries(config).filter(([name]) => !AFTER_ITERATIONS.has(name)));
}

/** The nodes whose outputs the settings read. */
export function nodesReadBy(config: JsonValue): readonly string[] {
  return [
    ...new Set(pathsIn(config).flatMap(([root, id]) => (root === 'nodes' && id !== undefined ? [id] : []))),
  ];
}

/** Whether the settings depend on when the node started. */
export function readsNow(config: JsonValue): boolean {
  return pathsIn(config).some(([root]) => root === 'now');
}

function pathsIn(config: JsonValue): (readonly string[])[] {
  return listPaths(parseTemplates(config).template).map(({ names }) => names);
}

/** Whether the settings read what a trigger keeps of a call besides its body. */
export function readsRequest(config: JsonValue): boolean {
  return listPaths(parseTemplates(config).template).some(
    ({ names: [root, member] }) => root === 'trigger' && member === 'request',
  );
}

/** The settings rendered as when the node started; members that read values known only during the run stay unrendered. */
export function renderInput(config: JsonObject, flow: Flow, source: InputSource, type = ''): JsonObject {
  const rendered: { [name: string]: JsonValue } = { ...config };
  for (const [name, member] of Object.entries(configAtStart(config, type))) {
    const value = renderMember(member, flow, source);
    if (value !== undefined) setOwn(rendered, name, value);
  }
  return rendered;
}

/** One rendered value; undefined if it reads something unknown. */
export function renderMember(member: JsonValue, flow: Flow, source: InputSource): JsonValue | undefined {
  const { template, errors } = parseTemplates(member);
  const paths = listPaths(template).map(({ names }) => names);
  if (errors.length > 0 || paths.some((names) => !isKnown(names, source))) return undefined;
  const { item, index, nowMs } = source;
  const scope: TemplateScope = {
    triggerData: source.triggerData,
    request: source.request,
    executionId: source.executionId,
    vars: isJsonObject(flow.settings?.vars) ? flow.settings.vars : {},
    timezone: flow.settings?.timezone ?? null,
    nodeOutput: (id) => own(source.outputs, id) ?? null,
    ...(item === undefined ? {} : { item }),
    ...(index === undefined ? {} : { index }),
    ...(nowMs === undefined ? {} : { nowMs }),
  };
  try {
    return render(template, scope, MAX_RENDERED_BYTES);
  } catch (error) {
    if (error instanceof RenderLimitError) return undefined;
    throw error;
  }
}

function isKnown([root = '', id = '']: readonly string[], source: InputSource): boolean {
  if (root === 'args') return false;
  if (root === 'item') return source.item !== undefined;
  if (root === 'index') return source.index !== undefined;
  if (root === 'now') return source.nowMs !== undefined;
  return root !== 'nodes' || source.unknown?.has(id) !== true;
}
