import { notifications, notificationsStore } from '@mantine/notifications';

/** A rectangle on the screen. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** In order of preference. */
const PLACES = [
  'bottom-right',
  'bottom-left',
  'bottom-center',
  'top-center',
  'top-right',
  'top-left',
] as const;
type NotificationPlace = (typeof PLACES)[number];
/** Pixels, as Mantine lays notifications out; the height is that of two lines, for one that isn't there yet. */
const TOAST = { width: 440, height: 88, margin: 16 } as const;
/** Points looked at under a notification. */
const GRID = { columns: 8, rows: 4 } as const;
/** What can be used, besides what has the focus. */
const USABLE =
  'a, button, input, textarea, select, [tabindex], [contenteditable="true"], .react-flow__minimap';

/**
 * The place for a notification that covers nothing in use, and as little as possible of what can be used.
 * @param used what has the focus
 * @param countIn how much in a box can be used
 * @param heightAt pixels of what would be shown at a place, with what is there already
 * @param stacks what is shown elsewhere: in a narrow window, the middle of a side overlaps its corners
 */
export function choosePlace(
  view: { readonly width: number; readonly height: number },
  used: Box | null,
  countIn: (box: Box) => number,
  heightAt: (place: NotificationPlace) => number,
  stacks: readonly Stack[] = [],
): NotificationPlace {
  const covers = PLACES.map((place) => {
    const box = boxAt(place, view, heightAt(place));
    const isUsed = used !== null && doOverlap(box, used);
    const isTaken = stacks.some((other) => other.place !== place && doOverlap(box, other.box));
    return { place, rank: (isUsed ? 2 : 0) + (isTaken ? 1 : 0), count: countIn(box) };
  });
  const [best] = covers.toSorted((a, b) => a.rank - b.rank || a.count - b.count);
  return best?.place ?? PLACES[0];
}

/** Notifications at a place. */
interface Stack {
  readonly place: NotificationPlace;
  readonly box: Box;
}

/** Where to show the next notification. */
export function placeForToast(): NotificationPlace {
  const heightAt = (place: NotificationPlace) => withStack(place, TOAST.height);
  return choosePlace(viewBox(), focusedBox(), countUsable, heightAt, shownStacks());
}

function shownStacks(): Stack[] {
  return PLACES.flatMap((place) => {
    const height = stackHeight(place);
    return height === 0 ? [] : [{ place, box: boxAt(place, viewBox(), height) }];
  });
}

// The focus can go to what is under a notification, which then makes way.
document.addEventListener('focusin', () => makeWay());

/** Makes notifications make way, too, that turn out higher than expected, or come to others. @returns ends it */
export function watchToasts(): () => void {
  const sizes = new ResizeObserver(() => makeWay());
  for (const stack of document.querySelectorAll(STACK)) sizes.observe(stack);
  return () => sizes.disconnect();
}

/** Moves the notifications of a corner that cover what has the focus to where they don't, if there is such a place. */
function makeWay(): void {
  const { notifications: shown } = notificationsStore.getState();
  const used = focusedBox();
  if (shown.length === 0 || used === null) return;
  const view = viewBox();
  for (const place of PLACES) {
    const height = stackHeight(place);
    if (height === 0 || !doOverlap(boxAt(place, view, height), used)) continue;
    const heightAt = (other: NotificationPlace) => (other === place ? height : withStack(other, height));
    const others = shownStacks().filter((stack) => stack.place !== place);
    const position = choosePlace(view, used, countUsable, heightAt, others);
    if (doOverlap(boxAt(position, view, heightAt(position)), used)) continue;
    for (const each of shown)
      if ((each.position ?? PLACES[0]) === place) notifications.update({ ...each, position });
  }
}

const STACK = '.mantine-Notifications-root';

/** Pixels of the notifications at a place, as they are shown. */
function stackHeight(place: NotificationPlace): number {
  const stack = document.querySelector<HTMLElement>(`${STACK}[data-position="${place}"]`);
  return stack?.offsetHeight ?? 0;
}

/** Pixels of the notifications at a place, once these are added. */
function withStack(place: NotificationPlace, height: number): number {
  const former = stackHeight(place);
  return former === 0 ? height : former + TOAST.margin + height;
}

function viewBox() {
  return { width: innerWidth, height: innerHeight };
}

function boxAt(
  place: NotificationPlace,
  view: { readonly width: number; readonly height: number },
  height: number,
): Box {
  const width = Math.min(TOAST.width, view.width - 2 * TOAST.margin);
  const left = place.endsWith('left')
    ? TOAST.margin
    : place.endsWith('right')
      ? view.width - TOAST.margin - width
      : (view.width - width) / 2;
  const top = place.startsWith('top') ? TOAST.margin : view.height - TOAST.margin - height;
  return { left, top, right: left + width, bottom: top + height };
}

function doOverlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

function focusedBox(): Box | null {
  const element = document.activeElement;
  return element === null || element === document.body || isInToast(element)
    ? null
    : element.getBoundingClientRect();
}

/** Different elements that can be used in a box. */
function countUsable({ left, top, right, bottom }: Box): number {
  const found = new Set<Element>();
  for (let column = 0; column < GRID.columns; column += 1) {
    for (let row = 0; row < GRID.rows; row += 1) {
      const x = left + ((column + 0.5) / GRID.columns) * (right - left);
      const y = top + ((row + 0.5) / GRID.rows) * (bottom - top);
      const under = document.elementsFromPoint(x, y).find((element) => !isInToast(element));
      const usable = under?.closest(USABLE);
      if (usable != null) found.add(usable);
    }
  }
  return found.size;
}

function isInToast(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(STACK) !== null;
}
