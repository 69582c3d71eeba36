import type { NodeDefinition } from '@millrace/engine';
import commonJapanese from './common-ja.json' with { type: 'json' };
import type { Connector, Operation } from './format.ts';
import { nodeOf, titleOf, typeOf } from './node-type.ts';
import { services } from './services.ts';

/** An operation as a node, and whether it is offered for new nodes. */
export interface ConnectorNode {
  readonly connector: Connector;
  readonly operation: Operation;
  readonly node: NodeDefinition;
  readonly isReplaced: boolean;
}

/** The nodes of connectors, by service. */
export function nodesOf(connectors: readonly Connector[]): readonly ConnectorNode[] {
  return connectors.flatMap((connector) =>
    connector.operations.map((operation) => ({
      connector,
      operation,
      node: nodeOf(connector, operation),
      isReplaced: operation.replaced === true,
    })),
  );
}

/** Every operation of every connector, in the order the editor shows them. */
export const connectorNodes: readonly ConnectorNode[] = nodesOf(services);

/** Japanese texts, as pages translate node types: by the English text, or by a type and what it is for. */
interface JapaneseTexts {
  readonly nodes: { readonly [text: string]: string };
  /** Labels of values. */
  readonly choices: { readonly [value: string]: string };
}

/** The Japanese texts of all connectors. */
export function japaneseTexts(connectors: readonly Connector[] = services): JapaneseTexts {
  const nodes: { [text: string]: string } = { ...commonJapanese };
  const choices: { [value: string]: string } = {};
  for (const connector of connectors) {
    const { ja, title, operations } = connector;
    const say = (text: string): string => ja[text] ?? text;
    Object.assign(nodes, ja);
    for (const operation of operations) {
      const type = typeOf(connector, operation);
      nodes[`${type}/title`] = titleOf(say(title), say(operation.title));
      for (const schema of Object.values(operation.settings)) {
        const labels = (schema['x-labels'] ?? {}) as { readonly [value: string]: string };
        for (const [value, label] of Object.entries(labels)) choices[`${type}/${value}`] = say(label);
      }
    }
  }
  return { nodes, choices };
}
