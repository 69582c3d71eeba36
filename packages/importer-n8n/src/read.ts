import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, own } from '@millrace/engine';
import { type Position, readPosition } from '@millrace/importer-kit/flow-builder';
import { arrayOf, objectOf, textOf } from '@millrace/importer-kit/values';

export { arrayOf, asText, objectOf, textOf } from '@millrace/importer-kit/values';

/** A node of an n8n workflow; what doesn't have the expected type is read as absent. */
export interface N8nNode {
  readonly name: string;
  /** Without the package: `httpRequest`. */
  readonly kind: string;
  readonly type: string;
  readonly version: number;
  readonly parameters: JsonObject;
  readonly position: Position;
  readonly raw: JsonObject;
  /** The paths of the parameters that something has asked for. */
  readonly asked: Set<string>;
}

/** A connection of the main kind: from an output to an input. */
export interface N8nLink {
  readonly from: string;
  readonly output: number;
  readonly to: string;
  readonly input: number;
}

/** A model, memory or tool of an agent. */
export interface N8nPart {
  /** `ai_languageModel`, `ai_tool`, ... */
  readonly role: string;
  readonly part: string;
  readonly of: string;
}

export interface N8nWorkflow {
  readonly name: string;
  readonly nodes: ReadonlyMap<string, N8nNode>;
  readonly links: readonly N8nLink[];
  readonly parts: readonly N8nPart[];
  readonly settings: JsonObject;
  /** Names that more than one node has: n8n itself never writes them. */
  readonly duplicates: readonly string[];
}

/** Node types that only n8n workflows have. */
export function isN8nType(type: JsonValue | undefined): boolean {
  return typeof type === 'string' && /^(?:@n8n\/|n8n-nodes-|@[\w-]+\/n8n-nodes-)/.test(type);
}

/** Whether a value is a workflow of n8n, or contains one as its `workflow`. */
export function isN8n(value: JsonValue): boolean {
  const workflow = workflowIn(value);
  if (workflow === null) return false;
  const { nodes } = workflow;
  const isList = nodes !== undefined && isJsonArray(nodes);
  if (!isList) return false;
  const list = nodes as readonly JsonValue[];
  return (
    list.some((node) => isJsonObject(node) && isN8nType(node.type)) ||
    (workflow.connections !== undefined && isJsonObject(workflow.connections) && !('edges' in workflow))
  );
}

/** The workflow of an export, which may be its member `workflow`; null if it isn't an object. */
export function workflowIn(value: JsonValue): JsonObject | null {
  if (!isJsonObject(value)) return null;
  if (value.nodes === undefined && value.workflow !== undefined && isJsonObject(value.workflow))
    return value.workflow;
  return value;
}

/** Reads an n8n export without trusting anything in it. */
export function readN8n(value: JsonValue): N8nWorkflow {
  const workflow = workflowIn(value) ?? {};
  const nodes = new Map<string, N8nNode>();
  const duplicates: string[] = [];
  /** By name: the last number that was tried for another node of it. Every number before it is taken. */
  const numbers = new Map<string, number>();
  for (const [index, raw] of arrayOf(workflow.nodes).entries()) {
    if (!isJsonObject(raw)) continue;
    const wanted = textOf(raw.name) ?? `Node ${index + 1}`;
    let name = wanted;
    for (let number = (numbers.get(wanted) ?? 1) + 1; nodes.has(name); number += 1) {
      name = `${wanted} (${number})`;
      numbers.set(wanted, number);
    }
    if (name !== wanted) duplicates.push(wanted);
    nodes.set(name, readNode(name, raw));
  }
  const connections = readConnections(objectOf(workflow.connections), nodes);
  const outer = isJsonObject(value) ? value : {};
  const name = textOf(workflow.name) ?? textOf(outer.name) ?? '';
  return { name, nodes, duplicates, ...connections, settings: objectOf(workflow.settings) };
}

function readNode(name: string, raw: JsonObject): N8nNode {
  const type = textOf(raw.type) ?? '';
  const version = raw.typeVersion;
  return {
    name,
    type,
    kind: kindOf(type),
    version: typeof version === 'number' ? version : 1,
    parameters: objectOf(raw.parameters),
    position: readPosition(raw.position),
    raw,
    asked: new Set(),
  };
}

/** Types that n8n doesn't have but that files contain, in small letters: what is meant by them is plain. */
const MEANT: { readonly [name: string]: string } = {
  email: 'emailSend',
  googlecalendar: 'googleCalendar',
  googledrive: 'googleDrive',
  googlesheets: 'googleSheets',
  httprequest: 'httpRequest',
  httpresponse: 'respondToWebhook',
  httptrigger: 'webhook',
  linkedin: 'linkedIn',
  mongodb: 'mongoDb',
  mysql: 'mySql',
  openai: 'openAi',
  sendemail: 'emailSend',
  splitinbatch: 'splitInBatches',
  webhooktrigger: 'webhook',
  youtube: 'youTube',
};

function kindOf(type: string): string {
  return meantKind(type) ?? type.slice(type.lastIndexOf('.') + 1);
}

/** The kind that a type which n8n doesn't have stands for; null for any other. */
export function meantKind(type: string): string | null {
  const [, name = ''] = /^n8n-nodes-base\.(\w+)$/.exec(type) ?? [];
  const meant = own(MEANT, name.toLowerCase());
  return meant === undefined || meant === name ? null : meant;
}

/** No node has as many. */
const MAX_OUTPUTS = 100;

function readConnections(
  connections: JsonObject,
  nodes: ReadonlyMap<string, N8nNode>,
): { links: readonly N8nLink[]; parts: readonly N8nPart[] } {
  const links = new Map<string, N8nLink>();
  const parts: N8nPart[] = [];
  for (const [from, byKind] of Object.entries(connections)) {
    if (!nodes.has(from) || !isJsonObject(byKind ?? null)) continue;
    for (const [role, outputs] of Object.entries(byKind as JsonObject)) {
      for (const [output, targets] of arrayOf(outputs).slice(0, MAX_OUTPUTS).entries()) {
        for (const target of arrayOf(targets)) {
          const to = isJsonObject(target) ? textOf(target.node) : null;
          if (to === null || !nodes.has(to)) continue;
          const given = (target as JsonObject).index;
          const input = typeof given === 'number' && given >= 0 && given < 100 ? Math.floor(given) : 0;
          if (role !== 'main') parts.push({ role, part: from, of: to });
          else links.set(`${from}\n${output}\n${to}\n${input}`, { from, output, to, input });
        }
      }
    }
  }
  return { links: [...links.values()], parts };
}

/** A parameter by dotted path, which counts as asked for: settings that nothing asks for are reported as left out. */
export function parameterOf({ parameters, asked }: N8nNode, path: string): JsonValue | undefined {
  asked.add(path);
  return parameterAt(parameters, path);
}

/** A parameter by dotted path, own members only. */
export function parameterAt(parameters: JsonObject, path: string): JsonValue | undefined {
  let at: JsonValue | undefined = parameters;
  for (const name of path.split('.')) {
    if (at === undefined || at === null || typeof at !== 'object' || !Object.hasOwn(at, name))
      return undefined;
    at = (at as { readonly [name: string]: JsonValue })[name];
  }
  return at;
}
