import { useNodeTypes } from '@millrace/editor/canvas/flow-view.tsx';
import type { Flow } from '@millrace/engine';
import { useMemo } from 'react';

/** What a page needs to know of the nodes of a flow besides what became of them. */
export interface NodeNames {
  /** What each node is called, as on the canvas; never the same for two. */
  readonly labels: ReadonlyMap<string, string>;
  /** By node inside a loop: that loop. */
  readonly parents: ReadonlyMap<string, string>;
  /** By node: those that lead to it. */
  readonly before: ReadonlyMap<string, readonly string[]>;
  readonly types: ReadonlyMap<string, string>;
}

/** The names of the nodes of a flow; those of a flow that is not there are empty. */
export function useNodeNames(flowData: unknown): NodeNames {
  const nodeTypes = useNodeTypes();
  return useMemo(() => {
    const { nodes = [], edges = [] } = (flowData ?? {}) as Partial<Flow>;
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
  }, [flowData, nodeTypes]);
}
