import type { CanvasEdge, CanvasNode } from '@millrace/editor-model/display.ts';
import type { useStoreApi, Viewport } from '@xyflow/react';

export type FlowApi = ReturnType<typeof useStoreApi<CanvasNode, CanvasEdge>>;

/** Where the canvas is looked at, also while React Flow isn't told. */
export type HeldViewport = ReturnType<typeof createHeldViewport>;

/**
 * Keeps the steps of a pan from React Flow: some thousand subscriptions of its nodes, handles and edges look at each, and none of them depends on
 * the offset. Who does asks here.
 */
export function createHeldViewport(flow: FlowApi, start: Viewport) {
  const listeners = new Set<() => void>();
  let [now, isHeld] = [start, false];
  const tell = () => flow.setState({ transform: [now.x, now.y, now.zoom] });
  return {
    /** For React Flow, which leaves the viewport to whoever gives it one. Always the current one: it reads this once more after the first fit. */
    given: {
      get x() {
        return now.x;
      },
      get y() {
        return now.y;
      },
      get zoom() {
        return now.zoom;
      },
    },
    /** The same object as long as nothing moves. */
    get: () => now,
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    /** For each step of a pan or zoom. */
    change: (viewport: Viewport) => {
      const isPan = viewport.zoom === now.zoom;
      now = viewport;
      if (isHeld && isPan) moveDrawn(flow.getState().domNode, viewport);
      else tell();
      for (const listener of listeners) listener();
    },
    /** From here on, a step that doesn't zoom only moves what is drawn. */
    hold: () => {
      isHeld = true;
    },
    /** React Flow is told where a pan has led to. */
    release: () => {
      if (isHeld) tell();
      isHeld = false;
    },
  };
}

/** As React Flow will once it is told. */
function moveDrawn(canvas: Element | null, { x, y, zoom }: Viewport): void {
  const drawn = canvas?.querySelector<HTMLElement>('.react-flow__viewport');
  drawn?.style.setProperty('transform', `translate(${x}px,${y}px) scale(${zoom})`);
}
