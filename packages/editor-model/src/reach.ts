import type { Size } from './editor-state.ts';

/** A box of the flow. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Where the flow is drawn: its origin in pixels of the screen, and its zoom. */
export interface View {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

/** The views that need nothing drawn that isn't yet: by the least and the most of their offset. */
export interface Reach {
  readonly zoom: number;
  readonly least: { readonly x: number; readonly y: number };
  readonly most: { readonly x: number; readonly y: number };
}

/** Pixels after which the view is taken stock of in any case: the dotted ground doesn't go on for ever. */
const FARTHEST = 4000;

/**
 * How far a view may be moved until one of the boxes comes into sight that isn't in sight now. A box that is beyond two sides comes into
 * sight no sooner than the farther of them is passed.
 */
export function reachOf(boxes: readonly Box[], { x, y, zoom }: View, { width, height }: Size): Reach {
  let [toLeft, toRight, toTop, toBottom] = [FARTHEST, FARTHEST, FARTHEST, FARTHEST];
  for (const { left, top, right, bottom } of boxes) {
    const beyondLeft = -(right * zoom + x);
    const beyondRight = left * zoom + x - width;
    const beyondTop = -(bottom * zoom + y);
    const beyondBottom = top * zoom + y - height;
    const farthest = Math.max(beyondLeft, beyondRight, beyondTop, beyondBottom);
    if (farthest < 0) continue;
    if (farthest === beyondLeft) toLeft = Math.min(toLeft, farthest);
    else if (farthest === beyondRight) toRight = Math.min(toRight, farthest);
    else if (farthest === beyondTop) toTop = Math.min(toTop, farthest);
    else toBottom = Math.min(toBottom, farthest);
  }
  return {
    zoom,
    least: { x: x - toRight, y: y - toBottom },
    most: { x: x + toLeft, y: y + toTop },
  };
}

export function isWithin({ zoom, least, most }: Reach, view: View): boolean {
  return view.zoom === zoom && view.x >= least.x && view.x <= most.x && view.y >= least.y && view.y <= most.y;
}
