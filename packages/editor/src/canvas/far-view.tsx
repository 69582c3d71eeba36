import './far-view.css';
import type { CanvasEdge, CanvasNode } from '@millrace/editor-model/display.ts';
import { createFarEdges } from '@millrace/editor-model/far-edges.ts';
import { createFarNodes } from '@millrace/editor-model/far-nodes.ts';
import { ViewportPortal } from '@xyflow/react';
import { memo, useState } from 'react';

/**
 * A large flow from far away, where no edge can be hit and no name be read: only lines and boxes, in few elements. As elements of their own, a
 * thousand nodes and their edges are painted and layered one by one for every frame of a pan.
 */
export const FarView = memo(function FarView({
  nodes,
  edges,
  lifted,
}: {
  nodes: readonly CanvasNode[];
  edges: readonly CanvasEdge[];
  /** Ids of nodes that are drawn elsewhere while they are dragged. */
  lifted: ReadonlySet<string>;
}) {
  const [drawEdges] = useState(createFarEdges);
  const [drawNodes] = useState(createFarNodes);
  return (
    <ViewportPortal>
      <svg className="flow-far-edges" aria-hidden>
        {drawEdges(nodes, edges, lifted).map(({ id, state, path }) => (
          <path key={id} className={state} d={path} />
        ))}
      </svg>
      <svg className="flow-far-nodes" aria-hidden>
        {drawNodes(nodes, lifted).map(({ id, className, path }) => (
          <path key={id} className={className} d={path} />
        ))}
      </svg>
    </ViewportPortal>
  );
});
