import { toCanvasId } from '@millrace/editor-model/canvas-id.ts';
import type { Size } from '@millrace/editor-model/editor-state.ts';
import { useEditorStore } from '@millrace/editor-model/store.ts';
import { useReactFlow, type Viewport } from '@xyflow/react';
import { type RefObject, useEffect, useEffectEvent, useRef } from 'react';

/** How everything is shown, also what isn't rendered at the moment. */
export const FIT = { padding: 0.15, maxZoom: 1, includeHiddenNodes: true } as const;

/** Milliseconds of a canvas animation; 0 if the user prefers reduced motion. */
export function animationMs(): number {
  return matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 200;
}

/** Minimum distance in pixels between a node and the canvas's border. */
const MARGIN = 24;

/** How far to move something so that it is within the canvas; its start counts if it is longer. */
function missing(start: number, end: number, length: number): number {
  if (end > length - MARGIN) return Math.max(length - MARGIN - end, MARGIN - start);
  return Math.max(0, MARGIN - start);
}

function isSame(a: Viewport, b: Viewport): boolean {
  // A pixel is lost by rounding.
  return Math.abs(a.x - b.x) < 1 && Math.abs(a.y - b.y) < 1 && a.zoom === b.zoom;
}

/** Pans as far as needed to show a node that was just added or that a problem refers to. */
export function useBringIntoView(
  focus: { readonly nodeId: string } | null,
  frame: RefObject<HTMLElement | null>,
  { width, height }: Size,
): void {
  const store = useEditorStore();
  const { getInternalNode, getViewport, setViewport } = useReactFlow();

  /** What is on the screen stays where it is, as far as possible. */
  const viewWith = (nodeId: string, view: Viewport): Viewport => {
    const node = getInternalNode(toCanvasId(nodeId));
    const box = frame.current?.getBoundingClientRect();
    if (node === undefined || box === undefined) return view;
    const { x, y } = node.internals.positionAbsolute;
    const [width, height] = [node.measured.width ?? 0, Math.min(node.measured.height ?? 0, 120)];
    const start = { x: x * view.zoom + view.x, y: y * view.zoom + view.y };
    return {
      x: view.x + missing(start.x, start.x + width * view.zoom, box.width),
      y: view.y + missing(start.y, start.y + height * view.zoom, box.height),
      zoom: view.zoom,
    };
  };
  const show = (view: Viewport) => {
    if (!isSame(view, getViewport())) void setViewport(view, { duration: animationMs() });
  };
  const bring = useEffectEvent((nodeId: string) => show(viewWith(nodeId, getViewport())));

  useEffect(() => {
    if (focus === null) return;
    // Wait for panels that open beside the canvas and shrink it.
    const timer = setTimeout(() => bring(focus.nodeId), 50);
    return () => clearTimeout(timer);
  }, [focus]);

  const displaced = useRef<{ readonly from: Viewport; readonly to: Viewport } | null>(null);
  /** Keeps the open node in sight beside its panel, and gives back what was seen before when there is room again. */
  const makeRoom = (): void => {
    const now = getViewport();
    const isUntouched = displaced.current !== null && isSame(now, displaced.current.to);
    const from = isUntouched && displaced.current !== null ? displaced.current.from : now;
    const [only, ...others] = store.getState().selectedIds;
    const to = only === undefined || others.length > 0 ? from : viewWith(only, from);
    displaced.current = isSame(from, to) ? null : { from, to };
    show(to);
  };

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
    if (before.width !== size.width) makeRoom();
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
