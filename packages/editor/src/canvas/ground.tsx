import { useStore, ViewportPortal } from '@xyflow/react';

/** Pixels between two dots. */
const GAP = 20;
/** Pixels of the screen. The ground is moved once this much of the flow has been passed. */
const STRIDE = 20_000;

/**
 * The dotted ground below the nodes, as a part of the flow. Chromium merges only what has no gaps into one layer: without a ground, a canvas
 * of a thousand nodes becomes dozens of layers, and each is blended with the page for each frame of a pan.
 */
export function Ground() {
  const [left, top, side] = useStore(placeOf, isSame);
  return (
    <ViewportPortal>
      <div className="flow-ground" style={{ left, top, width: side, height: side }} />
    </ViewportPortal>
  );
}

type Place = readonly [left: number, top: number, side: number];

/** A square that covers the canvas for a while; multiples of the gap, so that no dot moves. */
function placeOf({
  transform: [x, y, zoom],
}: {
  readonly transform: readonly [number, number, number];
}): Place {
  const stride = GAP * Math.ceil(STRIDE / zoom / GAP);
  const before = (offset: number) => (Math.floor(-offset / zoom / stride) - 1) * stride;
  return [before(x), before(y), 3 * stride];
}

function isSame(a: Place, b: Place): boolean {
  return a[0] === b[0] && a[1] === b[1] && a[2] === b[2];
}
