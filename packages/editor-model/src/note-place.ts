import type { EditorState, Point, Size } from './editor-state.ts';
import { handlesOf } from './flow-value.ts';
import { measureAll, overlaps, plainSize, positionOf } from './geometry.ts';

/** A part of the canvas, such as the one in view. */
interface Area {
  readonly from: Point;
  readonly to: Point;
}

/** Where a note of this size covers neither nodes nor notes, as near to the middle of the view's top as possible, and within the view if it has room. */
export function placeForNote(
  view: Area,
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
  const wanted = { x: (view.from.x + view.to.x - size.width) / 2, y: view.from.y };
  return nearestFreePlace(wanted, size, [...steps, ...notes], view);
}

/** Distance of the places tried around a wanted one, and how far away the last ones are, in pixels. */
const PLACE_STEP = 20;
const PLACE_REACH = 4000;
/** Space around what is placed freely. */
const PLACE_GAP = 16;

/** The free position nearest to `wanted`, rather within the view than beyond; `wanted` itself if everything around it is taken. */
function nearestFreePlace(
  wanted: Point,
  size: Size,
  others: readonly (Point & Size)[],
  { from, to }: Area,
): Point {
  const room = { width: size.width + 2 * PLACE_GAP, height: size.height + 2 * PLACE_GAP };
  const isFree = ({ x, y }: Point) =>
    !others.some((other) => overlaps({ x: x - PLACE_GAP, y: y - PLACE_GAP }, room, other, other));
  const isInView = ({ x, y }: Point) =>
    x >= from.x && y >= from.y && x + size.width <= to.x && y + size.height <= to.y;
  const distance = ({ x, y }: Point) => Math.hypot(x - wanted.x, y - wanted.y);
  // Nothing beyond the view is better than what is in it.
  const viewReach = Math.max(to.x - from.x, to.y - from.y);
  let beyond: Point | undefined;
  for (let ring = 0; ring <= PLACE_REACH; ring += PLACE_STEP) {
    const free = ringAround(wanted, ring)
      .filter(isFree)
      .toSorted((a, b) => distance(a) - distance(b));
    const nearest = free.find(isInView);
    if (nearest !== undefined) return nearest;
    beyond ??= free[0];
    if (beyond !== undefined && ring >= viewReach) return beyond;
  }
  return beyond ?? wanted;
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
