import type { CanvasEdge, CanvasNode } from '@millrace/editor-model/display.ts';
import { type Area, areaOf, followView, partIn, settleAround } from '@millrace/editor-model/near-area.ts';
import { useStoreApi } from '@xyflow/react';
import { useEffect, useMemo, useState } from 'react';
import type { HeldViewport } from './held-viewport.ts';

/** Milliseconds without a move after which the canvas is at rest. */
const REST_MS = 200;
/** Milliseconds between two steps at rest, for whatever else is to be done. */
const PAUSE_MS = 50;

/**
 * The part of a large flow that is rendered when it is near: what is seen, with a margin that is added while the canvas rests. React Flow's own
 * way renders each node when it comes into sight, and so paints the page anew in every third frame of a pan.
 *
 * @param isLargeAndNear otherwise everything is rendered
 * @returns `isPart` is false as long as it isn't known what is seen
 */
export function useNearPart(
  drawing: {
    readonly nodes: CanvasNode[];
    readonly edges: CanvasEdge[];
    readonly lifted: ReadonlySet<string>;
  },
  viewport: HeldViewport,
  isLargeAndNear: boolean,
): { readonly nodes: CanvasNode[]; readonly edges: CanvasEdge[]; readonly isPart: boolean } {
  const { nodes, edges, lifted } = drawing;
  const flow = useStoreApi<CanvasNode, CanvasEdge>();
  const [area, setArea] = useState<Area | null>(null);
  useEffect(() => {
    if (!isLargeAndNear) return;
    let rendered: Area | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const render = (next: Area) => {
      if (next === rendered) return false;
      rendered = next;
      setArea(next);
      return true;
    };
    const seen = () => areaOf(viewport.get(), flow.getState());
    const settle = () => {
      if (rendered === null) return;
      if (render(settleAround(rendered, seen(), viewport.get().zoom))) timer = setTimeout(settle, PAUSE_MS);
    };
    const follow = () => {
      const { width, fitViewQueued } = flow.getState();
      if (width === 0 || fitViewQueued) return;
      render(followView(rendered, seen(), viewport.get().zoom));
      clearTimeout(timer);
      timer = setTimeout(settle, REST_MS);
    };
    follow();
    const stop = [
      viewport.subscribe(follow),
      flow.subscribe((now, before) => {
        const isSame =
          now.width === before.width &&
          now.height === before.height &&
          now.fitViewQueued === before.fitViewQueued;
        if (!isSame) follow();
      }),
    ];
    return () => {
      for (const each of stop) each();
      clearTimeout(timer);
      setArea(null);
    };
  }, [flow, viewport, isLargeAndNear]);
  return useMemo(
    () =>
      isLargeAndNear && area !== null
        ? { ...partIn(area, { nodes, edges }, lifted), isPart: true }
        : { nodes, edges, isPart: false },
    [nodes, edges, lifted, area, isLargeAndNear],
  );
}
