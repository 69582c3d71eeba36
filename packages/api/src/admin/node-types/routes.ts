import type { NodeType } from '@millrace/admin-api';
import { type ConnectorNode, connectorNodes, japaneseTexts } from '@millrace/connectors/connectors';
import {
  DEFAULT_HANDLE,
  defaultTimeoutMs,
  handlesOf,
  type JsonObject,
  NO_RETRY,
  type NodeDefinition,
} from '@millrace/engine';
import { nodes } from '@millrace/nodes';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';

/** The node catalogue for the editor's palette and forms. */
export function nodeTypeRoutes(app: FastifyInstance, deps: AppDeps): void {
  const items = nodes.map(present);
  adminRoute(app, deps, 'GET /node-types', async () => ({ items }));
  const connectors = { items: connectorNodes.map(presentOperation), ja: japaneseTexts() };
  adminRoute(app, deps, 'GET /connectors', async () => connectors);
  adminRoute(app, deps, 'GET /limits', async () => ({
    flow_body_bytes: deps.config.limits.flowBodyBytes,
  }));
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

/** An operation of a connector, in the group of its service. */
export function presentOperation({ connector, node, isReplaced }: ConnectorNode): NodeType {
  return { ...present(node), group: connector.title, ...(isReplaced ? { is_replaced: true } : {}) };
}

/** The output of the first example that succeeds. */
function outputOf({ examples }: NodeDefinition): JsonObject | null {
  const outputs = examples.flatMap(({ expect }) => ('output' in expect ? [expect.output] : []));
  return outputs[0] ?? null;
}
