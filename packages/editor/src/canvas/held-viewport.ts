import type { CanvasEdge, CanvasNode } from '@millrace/editor-model/display.ts';
import type { useStoreApi, Viewport } from '@xyflow/react';

/** Where the canvas is looked at, also while React Flow isn't told. */
export interface HeldViewport {
  /** For React Flow, which leaves the viewport to whoever gives it one. Always the current one: it reads this once more after the first fit. */
  readonly given: Viewport;
  /** The same object as long as nothing moves. */
  readonly get: () => Viewport;
  readonly subscribe: (listener: () => void) => () => void;
  /** For each step of a pan or zoom. */
  readonly change: (viewport: Viewport) => void;
  /** From here on, a step that doesn't zoom only moves what is drawn. */
  readonly hold: () => void;
  /** React Flow is told where a pan has led to. */
  readonly release: () => void;
}

/**
 * Keeps the steps of a pan from React Flow: some thousand subscriptions of its nodes, handles and edges look at each, and none of them depends on
 * the offset. Who does asks here.
 */
export function createHeldViewport(
  flow: ReturnType<typeof useStoreApi<CanvasNode, CanvasEdge>>,
  start: Viewport,
): HeldViewport {
  const listeners = new Set<() => void>();
  let [now, isHeld] = [start, false];
  const tell = () => flow.setState({ transform: [now.x, now.y, now.zoom] });
  return {
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
    get: () => now,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    change(viewport) {
      const isPan = viewport.zoom === now.zoom;
      now = viewport;
      if (isHeld && isPan) moveDrawn(flow.getState().domNode, viewport);
      else tell();
      for (const listener of listeners) listener();
    },
    hold() {
      isHeld = true;
    },
    release() {
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
