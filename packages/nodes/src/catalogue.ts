import type { NodeDefinition, NodeRegistry } from '@millrace/engine';
import { coreDelay } from './nodes/core-delay.ts';
import { coreFail } from './nodes/core-fail.ts';
import { coreFilter } from './nodes/core-filter.ts';
import { coreIf } from './nodes/core-if.ts';
import { coreMerge } from './nodes/core-merge.ts';
import { coreSet } from './nodes/core-set.ts';
import { coreSwitch } from './nodes/core-switch.ts';
import { httpRequest } from './nodes/http-request.ts';
import { triggerManual } from './nodes/trigger-manual.ts';
import { triggerWebhook } from './nodes/trigger-webhook.ts';

/** The operators of conditions, in the order in which an editor shows them. */
export { OPERATORS } from './conditions.ts';

/** Every node there is, in the order in which an editor and the reference show them. */
export const nodes: readonly NodeDefinition[] = [
  triggerManual,
  triggerWebhook,
  coreSet,
  coreIf,
  coreSwitch,
  coreFilter,
  coreMerge,
  coreDelay,
  coreFail,
  httpRequest,
];

/**
 * Finds nodes by type.
 * @throws Error when two of them share a type: stored workflows would change their meaning
 */
export function createRegistry(definitions: readonly NodeDefinition[]): NodeRegistry {
  const byType = new Map(definitions.map((definition) => [definition.type, definition]));
  if (byType.size !== definitions.length) {
    const twice = definitions.find((definition) => byType.get(definition.type) !== definition);
    throw new Error(`two nodes have the type ${twice?.type ?? ''}`);
  }
  return (type) => byType.get(type);
}

/** The catalogue by type. */
export const registry: NodeRegistry = createRegistry(nodes);
