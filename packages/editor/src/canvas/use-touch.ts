import { type MouseEvent, type TouchEvent, useEffect, useMemo } from 'react';

/** The same as Android's. */
const LONG_PRESS_MS = 500;
/** Pixels a resting finger may move. */
const REST = 10;
/** Elements with their own touch behaviour. */
const BUSY =
  'input, textarea, button, .react-flow__panel, .react-flow__minimap, .react-flow__handle, .react-flow__resize-control';

interface Press {
  readonly x: number;
  readonly y: number;
  readonly timer: ReturnType<typeof setTimeout>;
}

/**
 * Touch support for what React Flow offers only to mice: dragging the ends of edges, and a long press as the right
 * mouse button (Safari doesn't send contextmenu).
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
    // Don't drag what is under the menu.
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
    // Browsers with their own long press would open the menu twice.
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

/** An edge's end listens for mouse events to start; from then on React Flow also follows touch events. */
function pull(end: Element, clientX: number, clientY: number): void {
  end.dispatchEvent(
    new window.MouseEvent('mousedown', { bubbles: true, cancelable: true, button: 0, clientX, clientY }),
  );
}
