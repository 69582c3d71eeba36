import type { CanvasEdge, CanvasNode } from '@millrace/editor-model/display.ts';
import type { RouteEdge } from '@millrace/editor-model/edge-routing.ts';
import { createContext, useEffect, useMemo, useState } from 'react';

/** Draws an edge around the nodes in its way; null until that is needed and loaded. */
export const EdgeRouting = createContext<RouteEdge | null>(null);

/** With more nodes than this, it isn't checked whether one may be in the way of an edge. */
const FEW = 100;

/** The way of edges around nodes, which is loaded once there may be an edge that needs one. */
export function useEdgeRouting(nodes: readonly CanvasNode[], edges: readonly CanvasEdge[]): RouteEdge | null {
  const [createRouting, setCreateRouting] = useState<((nodes: readonly CanvasNode[]) => RouteEdge) | null>(
    null,
  );
  const isNeeded = useMemo(
    () => createRouting !== null || nodes.length > FEW || mayCross(nodes, edges),
    [createRouting, nodes, edges],
  );
  useEffect(() => {
    if (!isNeeded || createRouting !== null) return;
    let isOver = false;
    // Without it, edges run over nodes.
    import('@millrace/editor-model/edge-routing.ts').then(
      (module) => {
        if (!isOver) setCreateRouting(() => module.createEdgeRouting);
      },
      () => {},
    );
    return () => {
      isOver = true;
    };
  }, [isNeeded, createRouting]);
  return useMemo(() => createRouting?.(nodes) ?? null, [createRouting, nodes]);
}

/** Whether an edge leads back, or a node touches the box between its ends. */
function mayCross(nodes: readonly CanvasNode[], edges: readonly CanvasEdge[]): boolean {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  return edges.some(({ source, target }) => {
    const [from, to] = [byId.get(source), byId.get(target)];
    if (from === undefined || to === undefined) return false;
    const [left, right] = [from.position.x + (from.width ?? 0), to.position.x];
    if (left > right) return true;
    const top = Math.min(from.position.y, to.position.y);
    const bottom = Math.max(from.position.y + (from.height ?? 0), to.position.y + (to.height ?? 0));
    return nodes.some(
      ({ type, parentId, position: { x, y }, width = 0, height = 0 }) =>
        type !== 'note' &&
        parentId === from.parentId &&
        x < right &&
        x + width > left &&
        y < bottom &&
        y + height > top,
    );
  });
}
