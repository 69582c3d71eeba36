import type { JsonObject, JsonValue } from '@millrace/engine';

export type OriginalNode = readonly [name: string, type: string, parameters?: JsonObject, more?: JsonObject];

/** `A.1 > B.2`: from the second output of A into the third input of B. */
export type OriginalLink = string;

/** A workflow as n8n exports it. @param versions of nodes, by their types; 1 for others */
export function originalOf(
  name: string,
  versions: { readonly [type: string]: number },
  nodes: readonly OriginalNode[],
  links: readonly OriginalLink[],
): JsonObject {
  const connections: { [from: string]: { main: { node: string; type: string; index: number }[][] } } = {};
  for (const link of links) {
    const [from = '', to = ''] = link.split(' > ');
    const [source = '', output = '0'] = from.split('.');
    const [node = '', input = '0'] = to.split('.');
    const { main } = connections[source] ?? { main: [] };
    connections[source] = { main };
    while (main.length <= Number(output)) main.push([]);
    main[Number(output)]?.push({ node, type: 'main', index: Number(input) });
  }
  return {
    name,
    nodes: nodes.map(([label, type, parameters = {}, more = {}], index) => ({
      name: label,
      type: `n8n-nodes-base.${type}`,
      typeVersion: versions[type] ?? 1,
      position: [index * 200, 0],
      parameters,
      ...more,
    })),
    connections: connections as unknown as JsonValue,
  };
}

/** Nodes one after the other; the first one is the trigger. */
export function chainOf(
  name: string,
  versions: { readonly [type: string]: number },
  nodes: readonly OriginalNode[],
): JsonObject {
  const links = nodes.slice(1).map(([label], index): OriginalLink => `${nodes[index]?.[0]} > ${label}`);
  return originalOf(name, versions, nodes, links);
}

/** The trigger of workflows that are started by hand. */
export const BY_HAND: OriginalNode = ['Start', 'manualTrigger'];
