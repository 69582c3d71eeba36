import { UNATTENDED_HEADER } from '@millrace/admin-api';

/** A page that nobody has touched for so long asks for itself only. */
const ACTIVE_MS = 2 * 60_000;
const ACTIVITY_EVENTS = ['pointerdown', 'pointermove', 'keydown', 'wheel'] as const;

/** By the clock on the wall: a machine that slept was not attended, either. */
let lastActivityAt = Date.now();

/** Listens for signs of somebody at the page. */
export function watchUserActivity(target: Pick<EventTarget, 'addEventListener'>): void {
  for (const sign of ACTIVITY_EVENTS)
    target.addEventListener(sign, noteActivity as EventListener, { capture: true, passive: true });
}

function noteActivity(event: Event): void {
  const { type, movementX, movementY } = event as PointerEvent;
  // What moves below a pointer that rests makes browsers tell of a move, too.
  if (type === 'pointermove' && movementX === 0 && movementY === 0) return;
  lastActivityAt = Date.now();
}

/**
 * Headers of a call that say whether somebody was at the page just now. What it asks otherwise, to stay up to date, must
 * not keep the session of who has left from being idle.
 */
export function userActivityHeaders(): { readonly [name: string]: string } {
  return Date.now() - lastActivityAt < ACTIVE_MS ? {} : { [UNATTENDED_HEADER]: '1' };
}
