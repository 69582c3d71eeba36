import { UNATTENDED_HEADER } from '@millrace/admin-api';

/** A page that nobody has touched for so long asks for itself only. */
const ATTENDED_MS = 2 * 60_000;
const SIGNS = ['pointerdown', 'pointermove', 'keydown', 'wheel'] as const;

/** By the clock on the wall: a machine that slept was not attended, either. */
let lastSignAt = Date.now();

/** Listens for signs of somebody at the page. */
export function watchAttendance(target: Pick<EventTarget, 'addEventListener'>): void {
  for (const sign of SIGNS)
    target.addEventListener(sign, noteSign as EventListener, { capture: true, passive: true });
}

function noteSign(event: Event): void {
  const { type, movementX, movementY } = event as PointerEvent;
  // What moves below a pointer that rests makes browsers tell of a move, too.
  if (type === 'pointermove' && movementX === 0 && movementY === 0) return;
  lastSignAt = Date.now();
}

/**
 * Headers of a call that say whether somebody was at the page just now. What it asks otherwise, to stay up to date, must
 * not keep the session of who has left from being idle.
 */
export function attendanceHeaders(): { readonly [name: string]: string } {
  return Date.now() - lastSignAt < ATTENDED_MS ? {} : { [UNATTENDED_HEADER]: '1' };
}
