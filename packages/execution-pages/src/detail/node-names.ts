import { useNodeTypes } from '@millrace/editor/canvas/flow-view.tsx';
import { connectorsOf, useConnectors } from '@millrace/editor/canvas/use-connectors.ts';
import type { Flow } from '@millrace/engine';
import { useMemo } from 'react';

/** Static node data of a flow, as opposed to results. */
export interface NodeNames {
  /** Node labels as on the canvas, made unique. */
  readonly labels: ReadonlyMap<string, string>;
  /** By node inside a loop: that loop. */
  readonly parents: ReadonlyMap<string, string>;
  /** By node: its predecessors. */
  readonly before: ReadonlyMap<string, readonly string[]>;
  readonly types: ReadonlyMap<string, string>;
}

const NO_NODES: Flow['nodes'] = [];
const NO_EDGES: Flow['edges'] = [];

/** Node names of a flow; empty while it is missing. */
export function useNodeNames(flowData: unknown): NodeNames {
  const nodeTypes = useNodeTypes();
  const { nodes = NO_NODES, edges = NO_EDGES } = (flowData ?? {}) as Partial<Flow>;
  useConnectors(useMemo(() => connectorsOf(nodes), [nodes]));
  return useMemo(() => {
    const titles = nodes.map(({ id, type, data }) => {
      const label = data?.label;
      return [id, typeof label === 'string' && label !== '' ? label : nodeTypes.get(type)?.title] as const;
    });
    const uses = Map.groupBy(titles, ([, title]) => title);
    const nameOf = (id: string, title: string | undefined) =>
      title === undefined ? id : (uses.get(title)?.length ?? 0) > 1 ? `${title} (${id})` : title;
    return {
      labels: new Map(titles.map(([id, title]) => [id, nameOf(id, title)])),
      parents: new Map(
        nodes.flatMap(({ id, parentId }) => (typeof parentId === 'string' ? [[id, parentId] as const] : [])),
      ),
      before: new Map(
        [...Map.groupBy(edges, ({ target }) => target)].map(([target, into]) => [
          target,
          [...new Set(into.map(({ source }) => source))],
        ]),
      ),
      types: new Map(nodes.map(({ id, type }) => [id, type])),
    };
  }, [nodes, edges, nodeTypes]);
}
