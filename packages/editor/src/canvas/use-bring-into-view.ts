import { useReactFlow } from '@xyflow/react';
import { type RefObject, useEffect, useEffectEvent, useRef } from 'react';
import { toCanvasId } from '../model/canvas-id.ts';
import type { Size } from '../model/editor-state.ts';
import { useEditorStore } from '../model/store.ts';

/** Milliseconds of a canvas animation; 0 if the user prefers reduced motion. */
export function animationMs(): number {
  return matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 200;
}

/** Minimum distance in pixels between a node and the canvas's border. */
const MARGIN = 24;

/** How far to move something so that it is within a range; its start counts if it is longer. */
function missing(start: number, end: number, from: number, to: number): number {
  if (end > to - MARGIN) return Math.max(to - MARGIN - end, from + MARGIN - start);
  return Math.max(0, from + MARGIN - start);
}

/** Pans as far as needed to show a node that was just added or that a problem refers to. */
export function useBringIntoView(
  focus: { readonly nodeId: string } | null,
  frame: RefObject<HTMLElement | null>,
  { width, height }: Size,
): void {
  const store = useEditorStore();
  const { getInternalNode, getViewport, setViewport, flowToScreenPosition } = useReactFlow();

  const bring = useEffectEvent((nodeId: string) => {
    const node = getInternalNode(toCanvasId(nodeId));
    const box = frame.current?.getBoundingClientRect();
    if (node === undefined || box === undefined) return;
    const { x, y } = node.internals.positionAbsolute;
    const [width, height] = [node.measured.width ?? 0, Math.min(node.measured.height ?? 0, 120)];
    const start = flowToScreenPosition({ x, y });
    const end = flowToScreenPosition({ x: x + width, y: y + height });
    const { x: left, y: top, zoom } = getViewport();
    const moved = {
      x: left + missing(start.x, end.x, box.left, box.right),
      y: top + missing(start.y, end.y, box.top, box.bottom),
      zoom,
    };
    // What is on the screen stays where it is, as far as possible.
    if (moved.x !== left || moved.y !== top) void setViewport(moved, { duration: animationMs() });
  });

  useEffect(() => {
    if (focus === null) return;
    // Wait for panels that open beside the canvas and shrink it.
    const timer = setTimeout(() => bring(focus.nodeId), 50);
    return () => clearTimeout(timer);
  }, [focus]);

  const former = useRef<Size | null>(null);
  const resized = useEffectEvent((size: Size) => {
    const before = former.current;
    former.current = size.height === 0 ? null : size;
    if (before === null || size.height === 0) return;
    // Keep the middle of the canvas centred when a panel opens below.
    const { x, y, zoom } = getViewport();
    if (before.height !== size.height) {
      void setViewport({ x, y: y + (size.height - before.height) / 2, zoom });
    }
    const [only, ...others] = store.getState().selectedIds;
    if (only !== undefined && others.length === 0 && before.width > size.width) bring(only);
  });
  useEffect(() => resized({ width, height }), [width, height]);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = store.subscribe((state, before) => {
      const [only, ...others] = state.selectedIds;
      const isNew = state.nodes.length > before.nodes.length && others.length === 0;
      if (!isNew || only === undefined || before.nodes.some(({ id }) => id === only)) return;
      clearTimeout(timer);
      timer = setTimeout(() => bring(only), 50);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [store]);
}
