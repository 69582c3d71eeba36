import type { CanvasEdge, CanvasNode } from '@millrace/editor-model/display.ts';
import { isWithin, type Reach, reachOf } from '@millrace/editor-model/reach.ts';
import { useStoreApi, type Viewport } from '@xyflow/react';
import { useCallback, useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';

/** What is seen while the canvas is pulled and React Flow hasn't been told yet; null otherwise. */
export interface PulledView {
  readonly get: () => Viewport | null;
  /** @returns stops telling it */
  readonly subscribe: (listener: () => void) => () => void;
}

/**
 * Pulls the canvas of a large flow by moving one element: React Flow, of which a thousand parts look at every step, is told where it is
 * only when something comes into sight, and at the end. In between, the view is one that this holds (React Flow's `viewport`).
 * @param isWhole all nodes are in the page: nothing has to be brought into sight
 */
export function usePulledView(isLarge: boolean, isWhole: boolean) {
  const flow = useStoreApi<CanvasNode, CanvasEdge>();
  const pulled = useMemo(createPulledView, []);
  /** Given to React Flow, which then leaves the view to us. */
  const [viewport, setViewport] = useState<Viewport | undefined>(undefined);
  const reach = useRef<Reach | null>(null);
  /** React Flow draws this view, and what is in it. */
  const tell = useCallback(
    (view: Viewport) => {
      flushSync(() => setViewport(view));
      pulled.set(view);
      const { nodeLookup, edges, width, height } = flow.getState();
      reach.current = reachOf(isWhole ? [] : boxesOf(nodeLookup, edges), view, { width, height });
    },
    [flow, pulled, isWhole],
  );
  /** The mouse pulls the canvas. */
  const pull = useCallback(
    (view: Viewport) => {
      if (isLarge && reach.current === null) tell(view);
    },
    [isLarge, tell],
  );
  const onViewportChange = useCallback(
    (view: Viewport) => {
      if (reach.current === null) return;
      if (!isWithin(reach.current, view)) {
        tell(view);
        return;
      }
      const element = flow.getState().domNode?.querySelector<HTMLElement>('.react-flow__viewport');
      // As React Flow writes it, which doesn't write it again if nothing has changed in the end.
      element?.style.setProperty('transform', `translate(${view.x}px,${view.y}px) scale(${view.zoom})`);
      pulled.set(view);
    },
    [flow, pulled, tell],
  );
  const release = useCallback(() => {
    const view = pulled.get();
    reach.current = null;
    if (view === null) return;
    flow.setState({ transform: [view.x, view.y, view.zoom] });
    pulled.set(null);
    setViewport(undefined);
  }, [flow, pulled]);
  return { pulled, pull, release, viewProps: { onViewportChange, ...(viewport && { viewport }) } };
}

function createPulledView() {
  let view: Viewport | null = null;
  const listeners = new Set<() => void>();
  return {
    get: () => view,
    set: (now: Viewport | null) => {
      view = now;
      for (const listener of listeners) listener();
    },
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

type NodeLookup = ReturnType<
  ReturnType<typeof useStoreApi<CanvasNode, CanvasEdge>>['getState']
>['nodeLookup'];

/** The boxes that React Flow renders what overlaps the picture by: each node's, and of an edge that of both its ends. */
function boxesOf(nodes: NodeLookup, edges: readonly CanvasEdge[]) {
  const boxes = new Map(
    [...nodes.values()].map(({ id, internals: { positionAbsolute: at }, measured }) => [
      id,
      {
        left: at.x,
        top: at.y,
        right: at.x + (measured.width ?? 0),
        bottom: at.y + (measured.height ?? 0),
      },
    ]),
  );
  const ofEdges = edges.flatMap(({ source, target }) => {
    const [a, b] = [boxes.get(source), boxes.get(target)];
    if (a === undefined || b === undefined) return [];
    return [
      {
        left: Math.min(a.left, b.left),
        top: Math.min(a.top, b.top),
        right: Math.max(a.right, b.right),
        bottom: Math.max(a.bottom, b.bottom),
      },
    ];
  });
  return [...boxes.values(), ...ofEdges];
}
