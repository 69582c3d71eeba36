import type { CanvasEdge, CanvasNode } from '@millrace/editor-model/display.ts';
import { createFarEdges } from '@millrace/editor-model/far-edges.ts';
import { ViewportPortal } from '@xyflow/react';
import { useState } from 'react';

/**
 * The edges of a large flow from far away, where no edge can be hit: only lines. As elements of React Flow, each of a thousand edges would look at
 * every step of a pan.
 */
export function FarEdgesView({
  nodes,
  edges,
}: {
  nodes: readonly CanvasNode[];
  edges: readonly CanvasEdge[];
}) {
  const [draw] = useState(createFarEdges);
  return (
    <ViewportPortal>
      <svg className="flow-far-edges" aria-hidden>
        {draw(nodes, edges).map(({ id, state, path }) => (
          <path key={id} className={state} d={path} />
        ))}
      </svg>
    </ViewportPortal>
  );
}
