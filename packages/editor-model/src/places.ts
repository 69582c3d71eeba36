import type { CanvasNode } from './display.ts';
import type { Point } from './editor-state.ts';

/** A node as drawn before, and what its place depends on. */
interface Placed {
  readonly node: CanvasNode;
  readonly around: Point;
  readonly at: Point;
  readonly placed: CanvasNode;
}

const ORIGIN: Point = { x: 0, y: 0 };

/**
 * Places nodes by left and top instead of by a transform each, as React Flow does: Chromium layers what has a transform of its own separately, and
 * does that anew whenever something on the canvas moves. Nodes that haven't moved are the same objects as before. Loops come before their contents.
 */
export function createPlaces(): (nodes: readonly CanvasNode[]) => CanvasNode[] {
  let known = new Map<string, Placed>();
  return (nodes) => {
    const kept = new Map<string, Placed>();
    const drawn = nodes.map((node) => {
      const around = (node.parentId === undefined ? undefined : kept.get(node.parentId)?.at) ?? ORIGIN;
      const old = known.get(node.id);
      const isSame = old?.node === node && old.around.x === around.x && old.around.y === around.y;
      const now = isSame ? old : placeNode(node, around);
      kept.set(node.id, now);
      return now.placed;
    });
    known = kept;
    return drawn;
  };
}

function placeNode(node: CanvasNode, around: Point): Placed {
  const at = { x: around.x + node.position.x, y: around.y + node.position.y };
  const placed = { ...node, style: { transform: 'none', left: at.x, top: at.y } };
  return { node, around, at, placed };
}
