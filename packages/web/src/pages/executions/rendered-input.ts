import {
  type Flow,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  listPaths,
  parseTemplates,
  RenderLimitError,
  render,
  setOwn,
  type TemplateScope,
} from '@millrace/engine';

const MAX_RENDERED_BYTES = 4_000_000;
/** What only the service knew while the node ran. */
const OF_THE_RUN = new Set(['args', 'item', 'index']);

/** What an execution's templates read. */
export interface InputSource {
  readonly executionId: number;
  readonly triggerData: JsonValue;
  readonly outputs: { readonly [nodeId: string]: JsonObject | undefined };
}

/** The settings of a node of this flow, as they are written; null when there are none. */
export function configOf(flow: Flow | undefined, nodeId: string): JsonObject | null {
  const config = flow?.nodes.find(({ id }) => id === nodeId)?.data?.config;
  return isJsonObject(config) && Object.keys(config).length > 0 ? config : null;
}

/** The nodes whose outputs the settings read. */
export function nodesReadBy(config: JsonObject): readonly string[] {
  const paths = listPaths(parseTemplates(config).template).map(({ names }) => names);
  return [...new Set(paths.flatMap(([root, id]) => (root === 'nodes' && id !== undefined ? [id] : [])))];
}

/** The settings with what their templates came to; a member that reads what only the run knew stays as it is written. */
export function renderInput(config: JsonObject, flow: Flow, source: InputSource): JsonObject {
  const scope: TemplateScope = {
    triggerData: source.triggerData,
    executionId: source.executionId,
    vars: isJsonObject(flow.settings?.vars) ? flow.settings.vars : {},
    timezone: flow.settings?.timezone ?? null,
    nodeOutput: (id) => (Object.hasOwn(source.outputs, id) ? (source.outputs[id] ?? null) : null),
  };
  const rendered: { [name: string]: JsonValue } = {};
  for (const [name, member] of Object.entries(config)) {
    setOwn(rendered, name, renderMember(member, scope));
  }
  return rendered;
}

function renderMember(member: JsonValue, scope: TemplateScope): JsonValue {
  const { template, errors } = parseTemplates(member);
  const readsRun = listPaths(template).some(({ names: [root = ''] }) => OF_THE_RUN.has(root));
  if (errors.length > 0 || readsRun) return member;
  try {
    return render(template, scope, MAX_RENDERED_BYTES);
  } catch (error) {
    if (error instanceof RenderLimitError) return member;
    throw error;
  }
}
