import { type MouseEvent, type TouchEvent, useEffect, useMemo } from 'react';

/** As long as Android waits. */
const LONG_PRESS_MS = 500;
/** Pixels that a finger strays while it rests. */
const REST = 10;
/** What has something of its own to do with a finger. */
const BUSY =
  'input, textarea, button, .react-flow__panel, .react-flow__minimap, .react-flow__handle, .react-flow__resize-control';

interface Press {
  readonly x: number;
  readonly y: number;
  readonly timer: ReturnType<typeof setTimeout>;
}

/**
 * What React Flow does for a mouse only: the ends of edges can be pulled by a finger, too, and a long press is the right
 * mouse button (Safari has none of its own).
 */
export function useTouch() {
  const touch = useMemo(createTouch, []);
  useEffect(() => touch.stop, [touch]);
  return touch.handlers;
}

function createTouch() {
  let press: Press | null = null;
  let hasShown = false;
  const stop = () => {
    clearTimeout(press?.timer);
    press = null;
  };
  const show = (x: number, y: number) => {
    stop();
    hasShown = true;
    const event = new window.MouseEvent('contextmenu', {
      bubbles: true,
      cancelable: true,
      button: 2,
      clientX: x,
      clientY: y,
    });
    document.elementFromPoint(x, y)?.dispatchEvent(event);
  };
  const onTouchStartCapture = (event: TouchEvent) => {
    stop();
    hasShown = false;
    const [finger, ...others] = Array.from(event.touches);
    if (finger === undefined || others.length > 0 || !(event.target instanceof Element)) return;
    const { clientX: x, clientY: y } = finger;
    if (event.target.closest('.react-flow__edgeupdater') !== null) {
      pull(event.target, x, y);
      return;
    }
    if (event.target.closest(BUSY) === null) {
      press = { x, y, timer: setTimeout(() => show(x, y), LONG_PRESS_MS) };
    }
  };
  const onTouchMoveCapture = (event: TouchEvent) => {
    // What lies under the menu is not dragged.
    if (hasShown) event.stopPropagation();
    const finger = event.touches[0];
    if (press === null || finger === undefined) return;
    if (Math.hypot(finger.clientX - press.x, finger.clientY - press.y) > REST) stop();
  };
  const onTouchEndCapture = (event: TouchEvent) => {
    stop();
    // The end of a long press isn't a click.
    if (hasShown && event.cancelable) event.preventDefault();
  };
  const onContextMenuCapture = (event: MouseEvent) => {
    if (!event.nativeEvent.isTrusted) return;
    // Where the browser knows the long press by itself, one of both is enough.
    if (hasShown) {
      event.preventDefault();
      event.stopPropagation();
    } else if (press !== null) {
      stop();
      hasShown = true;
    }
  };
  const handlers = {
    onTouchStartCapture,
    onTouchMoveCapture,
    onTouchEndCapture,
    onTouchCancelCapture: stop,
    onContextMenuCapture,
  };
  return { handlers, stop };
}

/** The end of an edge listens to a mouse; how it goes on it hears from a finger as well. */
function pull(end: Element, clientX: number, clientY: number): void {
  end.dispatchEvent(
    new window.MouseEvent('mousedown', { bubbles: true, cancelable: true, button: 0, clientX, clientY }),
  );
}
