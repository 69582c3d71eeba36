import type { FlowNode } from '@millrace/engine';
import type { EditorState, Point, Size } from './editor-state.ts';
import { handlesOf, noteKeyOf, withBodies } from './flow-value.ts';
import { GAP, measureAll, positionOf } from './geometry.ts';
import { layOut } from './layout.ts';

type Shown = Pick<
  EditorState,
  'nodes' | 'edges' | 'settings' | 'handles' | 'nodeTypes' | 'placed' | 'selectedIds'
>;
type Positions = { [idOrNoteKey: string]: Point };

/** Selected nodes in the same loop as the first of them; none if only one is selected. */
export function selectedTogether({ nodes, selectedIds }: Shown): readonly FlowNode[] {
  const selected = new Set(selectedIds);
  const found = nodes.filter(({ id }) => selected.has(id));
  const together = found.filter(({ parentId }) => (parentId ?? null) === (found[0]?.parentId ?? null));
  return together.length > 1 ? together : [];
}

/** A left-to-right layout along the edges, of the selection or else of everything. */
export function tidyUp(state: Shown): Positions {
  const { nodes, edges, handles, nodeTypes } = state;
  const handlesIn = (node: FlowNode) => handlesOf(node, handles, nodeTypes);
  const chosen = selectedTogether(state);
  if (chosen.length === 0) {
    const positions: Positions = { ...layOut(nodes, edges, handlesIn) };
    return Object.assign(positions, takeNotesAlong(state, positions));
  }
  const taken = withBodies(
    nodes,
    chosen.map(({ id }) => id),
  );
  const ids = new Set(chosen.map(({ id }) => id));
  const positions: Positions = {
    ...layOut(
      nodes.filter(({ id }) => taken.has(id)),
      edges,
      handlesIn,
    ),
  };
  // Keep the top left corner in place.
  const before = corner(chosen.map((node) => positionOf(node, state.placed)));
  const after = corner(chosen.map(({ id }) => positions[id] ?? before));
  for (const id of ids) {
    const { x, y } = positions[id] ?? before;
    positions[id] = { x: x + before.x - after.x, y: y + before.y - after.y };
  }
  return positions;
}

/** Moves each note with the node nearest to it. */
function takeNotesAlong(state: Shown, positions: Positions): Positions {
  const sizes = sizesOf(state);
  const top = state.nodes
    .filter(({ parentId }) => parentId == null)
    .map((node) => ({ node, at: positionOf(node, state.placed), size: sizes.get(node.id) ?? NO_SIZE }));
  const moved: Positions = {};
  for (const note of state.settings.notes ?? []) {
    const distance = ({ at, size }: { readonly at: Point; readonly size: Size }) =>
      Math.hypot(
        gapBetween(note.position.x, note.size.width, at.x, size.width),
        gapBetween(note.position.y, note.size.height, at.y, size.height),
      );
    const nearest = top.toSorted((a, b) => distance(a) - distance(b))[0];
    const to = nearest === undefined ? undefined : positions[nearest.node.id];
    if (nearest === undefined || to === undefined) continue;
    moved[noteKeyOf(note)] = {
      x: note.position.x + to.x - nearest.at.x,
      y: note.position.y + to.y - nearest.at.y,
    };
  }
  return moved;
}

const NO_SIZE: Size = { width: 0, height: 0 };

function gapBetween(a: number, aLength: number, b: number, bLength: number): number {
  return Math.max(0, b - (a + aLength), a - (b + bLength));
}

/** Arranges the selection in a row or column, keeping its order and avoiding overlaps. */
export function lineUp(state: EditorState, as: 'row' | 'column'): void {
  const sizes = sizesOf(state);
  const [along, across] = as === 'row' ? (['x', 'y'] as const) : (['y', 'x'] as const);
  const side = as === 'row' ? 'width' : 'height';
  const chosen = selectedTogether(state).toSorted(
    (a, b) => positionOf(a, state.placed)[along] - positionOf(b, state.placed)[along],
  );
  const level = Math.min(...chosen.map((node) => positionOf(node, state.placed)[across]));
  const positions: Positions = {};
  let free = Number.NEGATIVE_INFINITY;
  for (const node of chosen) {
    const { id } = node;
    const start = Math.max(free, positionOf(node, state.placed)[along]);
    positions[id] = as === 'row' ? { x: start, y: level } : { x: level, y: start };
    free = start + (sizes.get(id)?.[side] ?? 0) + GAP[along];
  }
  state.move(positions);
}

function corner(points: readonly Point[]): Point {
  return { x: Math.min(...points.map(({ x }) => x)), y: Math.min(...points.map(({ y }) => y)) };
}

function sizesOf({ nodes, placed, handles, nodeTypes }: Shown): ReadonlyMap<string, Size> {
  return measureAll({
    nodes,
    placed,
    handleCount: (node) => handlesOf(node, handles, nodeTypes).length,
  });
}
