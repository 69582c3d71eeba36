import type { CanvasNode, StepNode } from './display.ts';
import { boxPath, createShapes, type FarShape, type Look } from './far-places.ts';
import { NODE_HEIGHT } from './geometry.ts';
import { frameClasses, kindClass } from './node-classes.ts';

/** The boxes inside a node, where the style sheet places them in a node that is near. */
const ICON = { x: 11, side: 28, radius: 5 } as const;
const BAR = { x: 47, height: 12, radius: 3, share: 0.55, margins: 22 } as const;
const FRAME_RADIUS = 6;

const LOOKS: readonly Look<StepNode>[] = [
  {
    classOf: ({ data, selected }) => frameClasses('flow-far-node', data, selected === true),
    // A border is inside its box, a line in the middle of its outline.
    outline: ({ width = 0, height = 0 }, { x, y }) =>
      boxPath(x + 0.5, y + 0.5, width - 1, height - 1, FRAME_RADIUS),
  },
  {
    classOf: ({ data: { type, run } }) =>
      `flow-far-icon ${kindClass(type)}${run?.status === 'skipped' ? ' is-skipped' : ''}`,
    outline: (_node, { x, y }) =>
      boxPath(x + ICON.x, y + (NODE_HEIGHT - ICON.side) / 2, ICON.side, ICON.side, ICON.radius),
  },
  {
    classOf: () => 'flow-far-bar',
    outline: ({ width = 0 }, { x, y }) =>
      boxPath(
        x + BAR.x,
        y + (NODE_HEIGHT - BAR.height) / 2,
        BAR.share * (width - BAR.margins),
        BAR.height,
        BAR.radius,
      ),
  },
];

/**
 * Draws the nodes of a large flow that is seen from far away: of each a frame, its icon's square, and a bar for its name. Loops and notes aren't
 * drawn: there are few. Elements of which no node has changed stay as they are.
 */
export function createFarNodes(): (
  nodes: readonly CanvasNode[],
  lifted?: ReadonlySet<string>,
) => readonly FarShape[] {
  const draw = createShapes(LOOKS);
  return (nodes, lifted) =>
    draw(
      nodes.filter((node) => node.type === 'step'),
      nodes,
      lifted,
    );
}

/** The same boxes of a single node, at the origin. */
export function drawFarNode(node: StepNode): readonly Pick<FarShape, 'className' | 'path'>[] {
  return LOOKS.map(({ classOf, outline }) => ({
    className: classOf(node),
    path: outline(node, { x: 0, y: 0 }),
  }));
}
