import type { EditorState, Point, Size } from './editor-state.ts';
import { handlesOf } from './flow-value.ts';
import { measureAll, overlaps, plainSize, positionOf } from './geometry.ts';

/** Where a note of this size covers neither nodes nor notes, as near to `wanted` as possible. */
export function placeForNote(
  wanted: Point,
  size: Size,
  { nodes, settings, placed, handles, nodeTypes }: EditorState,
): Point {
  const sizes = measureAll({
    nodes,
    placed,
    handleCount: (node) => handlesOf(node, handles, nodeTypes).length,
  });
  const steps = nodes
    .filter(({ parentId }) => parentId == null)
    .map((node) => ({ ...positionOf(node, placed), ...(sizes.get(node.id) ?? plainSize(1)) }));
  const notes = (settings.notes ?? []).map(({ position, size }) => ({ ...position, ...size }));
  return nearestFreePlace(wanted, size, [...steps, ...notes]);
}

/** Distance of the places tried around a wanted one, and how far away the last ones are, in pixels. */
const PLACE_STEP = 20;
const PLACE_REACH = 4000;
/** Space around what is placed freely. */
const PLACE_GAP = 16;

/** The free position nearest to `wanted`, in any direction; `wanted` itself if everything around it is taken. */
function nearestFreePlace(wanted: Point, size: Size, others: readonly (Point & Size)[]): Point {
  const room = { width: size.width + 2 * PLACE_GAP, height: size.height + 2 * PLACE_GAP };
  const isFree = ({ x, y }: Point) =>
    !others.some((other) => overlaps({ x: x - PLACE_GAP, y: y - PLACE_GAP }, room, other, other));
  for (let ring = 0; ring <= PLACE_REACH; ring += PLACE_STEP) {
    const free = ringAround(wanted, ring).filter(isFree);
    const distance = ({ x, y }: Point) => Math.hypot(x - wanted.x, y - wanted.y);
    const [nearest] = free.toSorted((a, b) => distance(a) - distance(b));
    if (nearest !== undefined) return nearest;
  }
  return wanted;
}

/** The places on the border of a square. */
function ringAround({ x, y }: Point, reach: number): readonly Point[] {
  if (reach === 0) return [{ x, y }];
  const places: Point[] = [];
  for (let along = -reach; along < reach; along += PLACE_STEP) {
    places.push(
      { x: x + reach, y: y + along },
      { x: x - along, y: y + reach },
      { x: x - reach, y: y - along },
      { x: x + along, y: y - reach },
    );
  }
  return places;
}
