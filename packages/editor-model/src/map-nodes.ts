import type { Rect } from '@xyflow/react';
import type { CanvasNode } from './display.ts';
import { boxPath, createShapes, type FarShape, type Look, onCanvas } from './far-places.ts';
import { kindClass } from './node-classes.ts';

const RADIUS = 5;

const BOX: Look<CanvasNode> = {
  classOf: (node) =>
    node.type === 'step' ? `flow-map-step ${kindClass(node.data.type)}` : `flow-map-${node.type}`,
  outline: ({ width = 0, height = 0 }, { x, y }) => boxPath(x, y, width, height, RADIUS),
};

/** Draws all nodes for the minimap; elements of which no node has changed stay as they are. */
export function createMapNodes(): (nodes: readonly CanvasNode[]) => readonly FarShape[] {
  const draw = createShapes([BOX]);
  return (nodes) => draw(nodes, nodes);
}

/** The box around all nodes; null without nodes. */
export function boundsOf(nodes: readonly CanvasNode[]): Rect | null {
  if (nodes.length === 0) return null;
  const byId = new Map(nodes.map((node) => [node.id, node]));
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { id, width = 0, height = 0 } of nodes) {
    const { x, y } = onCanvas(byId, id, { x: 0, y: 0 });
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x + width);
    bottom = Math.max(bottom, y + height);
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}
