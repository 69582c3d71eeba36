import type { NodeDefinition } from '@millrace/engine';
import common from './common-ja.json' with { type: 'json' };
import type { Connector, ConnectorList, ConnectorTrigger, Operation } from './format.ts';
import { nodeOf, titleOf, typeOf } from './node-type.ts';
import { services } from './services.ts';
import { triggerNodeOf, triggerTypeOf } from './trigger-type.ts';

interface OfConnector {
  readonly connector: Connector;
  readonly node: NodeDefinition;
  /** Whether it isn't offered for new nodes. */
  readonly isReplaced: boolean;
}

/** An operation or a trigger as a node. */
export type ConnectorNode =
  | (OfConnector & { readonly kind: 'operation'; readonly operation: Operation })
  | (OfConnector & { readonly kind: 'trigger'; readonly trigger: ConnectorTrigger });

/** The nodes of connectors, by service: triggers first. */
export function nodesOf(connectors: readonly Connector[]): readonly ConnectorNode[] {
  return connectors.flatMap((connector): readonly ConnectorNode[] => {
    const { operations, triggers = [] } = connector;
    return [
      ...triggers.map((trigger) => ({
        kind: 'trigger' as const,
        ...{ connector, trigger, node: triggerNodeOf(connector, trigger) },
        isReplaced: trigger.replaced === true,
      })),
      ...operations.map((operation) => ({
        kind: 'operation' as const,
        ...{ connector, operation, node: nodeOf(connector, operation) },
        isReplaced: operation.replaced === true,
      })),
    ];
  });
}

/** Every operation and trigger of every connector, in the order the editor shows them. */
export const connectorNodes: readonly ConnectorNode[] = nodesOf(services);

/** A list of one of these connectors, by their names: `slack`, `channels`. */
export function findList(connectors: readonly Connector[], id: string, list: string): FoundList | undefined {
  const connector = connectors.find((each) => each.id === id);
  const found = connector?.lists?.find((each) => each.id === list);
  return connector === undefined || found === undefined ? undefined : { connector, list: found };
}

/** A list with its connector. */
export interface FoundList {
  readonly connector: Connector;
  readonly list: ConnectorList;
}

const serviceByType = new Map(connectorNodes.map(({ node, connector }) => [node.type, connector]));

/** The services that nodes of these types belong to; none for other nodes. */
export function servicesOf(types: readonly string[]): readonly Connector[] {
  return [...new Set(types.flatMap((type) => serviceByType.get(type) ?? []))];
}

/** Japanese texts, as pages translate node types: by the English text, or by a type and what it is for. */
interface JapaneseTexts {
  readonly nodes: { readonly [text: string]: string };
  /** Labels of values. */
  readonly choices: { readonly [value: string]: string };
}

const { choices: commonChoices, nodes: commonJapanese } = common;

/** The Japanese texts of all connectors. */
export function japaneseTexts(connectors: readonly Connector[] = services): JapaneseTexts {
  const nodes: { [text: string]: string } = { ...commonJapanese };
  const choices: { [value: string]: string } = {};
  for (const connector of connectors) {
    const { ja, title, operations, triggers = [] } = connector;
    const say = (text: string): string => ja[text] ?? text;
    Object.assign(nodes, ja);
    const named = [
      ...operations.map((operation) => ({ ...operation, type: typeOf(connector, operation) })),
      ...triggers.map((trigger) => ({ ...trigger, type: triggerTypeOf(connector, trigger) })),
    ];
    for (const { type, title: name, settings } of named) {
      nodes[`${type}/title`] = titleOf(say(title), say(name));
      for (const schema of Object.values(settings)) {
        const labels = (schema['x-labels'] ?? {}) as { readonly [value: string]: string };
        for (const [value, label] of Object.entries(labels)) choices[`${type}/${value}`] = say(label);
      }
    }
    for (const { type } of named.slice(operations.length)) {
      for (const [value, label] of Object.entries(commonChoices)) choices[`${type}/${value}`] = label;
    }
  }
  return { nodes, choices };
}
