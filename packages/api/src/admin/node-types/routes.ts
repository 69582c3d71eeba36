import type { NodeType, NodeTypeOutline } from '@millrace/admin-api';
import { type ConnectorNode, connectorNodes, japaneseTexts } from '@millrace/connectors/connectors';
import {
  DEFAULT_HANDLE,
  defaultTimeoutMs,
  handlesOf,
  type JsonObject,
  NO_RETRY,
  type NodeDefinition,
  once,
} from '@millrace/engine';
import { nodes } from '@millrace/nodes';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';

/** Made and compressed when somebody first asks, and shared by all services of this process: they never change. */
const nodeTypes = once(() => ({ items: nodes.map(present) }));
const nodeTypeOutlines = once(() => ({ items: nodeTypes().items.map(outline) }));
const connectors = once(() => ({ items: connectorNodes.map(presentOperation), ja: japaneseTexts() }));
const connectorOutlines = once(() => outlinesOf(connectors()));

/** The node catalogue: outlines for showing a flow; everything for the editor's palette and forms. */
export function nodeTypeRoutes(app: FastifyInstance, deps: AppDeps): void {
  adminRoute(app, deps, 'GET /node-types', async () => nodeTypes());
  adminRoute(app, deps, 'GET /node-types/outline', async () => nodeTypeOutlines());
  adminRoute(app, deps, 'GET /connectors', async () => connectors());
  adminRoute(app, deps, 'GET /connectors/outline', async () => connectorOutlines());
  adminRoute(app, deps, 'GET /limits', async () => ({
    flow_body_bytes: deps.config.limits.flowBodyBytes,
  }));
}

interface WithJapanese {
  readonly items: readonly NodeType[];
  readonly ja: { readonly nodes: { readonly [text: string]: string } };
}

/** Node types of connectors, and their titles in Japanese. */
export function outlinesOf(types: WithJapanese) {
  return { items: types.items.map(outline), ja: { nodes: titlesIn(types) } };
}

function outline(item: NodeType): NodeTypeOutline {
  const { type, title, icon, kind, group, is_replaced: isReplaced, handles, first_config: config } = item;
  return {
    type,
    title,
    icon,
    kind,
    group,
    ...(isReplaced === undefined ? {} : { is_replaced: isReplaced }),
    handles,
    first_config: config,
    ...(group === 'trigger' ? { description: item.description } : {}),
  };
}

/** The Japanese texts of connectors that outlines need. */
function titlesIn({ items, ja }: WithJapanese): Record<string, string> {
  const texts = items.flatMap(({ type, title, group }) => [`${type}/title`, title, group]);
  return Object.fromEntries(
    texts.flatMap((text) => (ja.nodes[text] === undefined ? [] : [[text, ja.nodes[text]]])),
  );
}

function present(definition: NodeDefinition): NodeType {
  const { type, title, description, icon, kind, configSchema, examples, synonyms = [] } = definition;
  const retry = definition.defaultRetry ?? NO_RETRY;
  return {
    type,
    title,
    description,
    synonyms: [...synonyms],
    icon,
    kind,
    group: type.slice(0, type.indexOf('.')),
    config_schema: configSchema as JsonObject,
    first_config: firstConfig(configSchema as JsonObject),
    handles: [...(handlesOf({ id: type, type }, definition) ?? [DEFAULT_HANDLE])],
    examples: examples.map(({ title: name, config }) => ({ title: name, config })),
    output_example: outputOf(definition),
    default_timeout_ms: defaultTimeoutMs(definition),
    default_retry: {
      max_attempts: retry.maxAttempts,
      backoff_ms: retry.backoffMs,
      max_backoff_ms: retry.maxBackoffMs,
    },
  };
}

/** What a new node begins with: the defaults of what is required, and what a setting begins with that may as well be empty (`x-first`). */
function firstConfig({ required = [], properties = {} }: JsonObject): JsonObject {
  const needed = new Set(required as readonly string[]);
  const known = properties as { readonly [name: string]: JsonObject };
  return Object.fromEntries(
    Object.entries(known).flatMap(([name, schema]) => {
      const first = schema['x-first'] ?? (needed.has(name) ? schema.default : undefined);
      return first === undefined ? [] : [[name, first]];
    }),
  );
}

/** An operation of a connector, grouped by its service. */
export function presentOperation({ connector, node, isReplaced }: ConnectorNode): NodeType {
  return { ...present(node), group: connector.title, ...(isReplaced ? { is_replaced: true } : {}) };
}

/** The output of the first example that succeeds; that of a node which waits is what it waits with. */
function outputOf({ examples }: NodeDefinition): JsonObject | null {
  const outputs = examples.flatMap(({ expect }) =>
    'output' in expect && !('awaitsSignal' in expect) ? [expect.output] : [],
  );
  return outputs[0] ?? null;
}
