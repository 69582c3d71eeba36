import { UNATTENDED_HEADER } from '@millrace/admin-api';

/** After this long without input, the page's requests don't count as the user's. */
const ACTIVE_MS = 2 * 60_000;
const ACTIVITY_EVENTS = ['pointerdown', 'pointermove', 'keydown', 'wheel'] as const;

/** Wall-clock time: while a machine sleeps, nobody uses it. */
let lastActivityAt = Date.now();

/** Listens for input on the page. */
export function watchUserActivity(target: Pick<EventTarget, 'addEventListener'>): void {
  for (const sign of ACTIVITY_EVENTS)
    target.addEventListener(sign, noteActivity as EventListener, { capture: true, passive: true });
}

function noteActivity(event: Event): void {
  const { type, movementX, movementY } = event as PointerEvent;
  // Browsers also send a move when content moves below a resting pointer.
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
