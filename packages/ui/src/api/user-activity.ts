import { UNATTENDED_HEADER } from '@millrace/admin-api';

/** After this long without input, the page's requests no longer count as user activity. */
const ACTIVE_MS = 2 * 60_000;
const ACTIVITY_EVENTS = ['pointerdown', 'pointermove', 'keydown', 'wheel'] as const;

/** Wall-clock time, so that time a machine spends asleep counts as idle. */
let lastActivityAt = Date.now();

export function watchUserActivity(target: Pick<EventTarget, 'addEventListener'>): void {
  for (const sign of ACTIVITY_EVENTS)
    target.addEventListener(sign, noteActivity as EventListener, { capture: true, passive: true });
}

function noteActivity(event: Event): void {
  const { type, movementX, movementY } = event as PointerEvent;
  // Browsers also send a move when content moves under a resting pointer.
  if (type === 'pointermove' && movementX === 0 && movementY === 0) return;
  lastActivityAt = Date.now();
}

/**
 * Headers that mark whether the user was recently active. Background refreshes must not keep the session of an absent
 * user from becoming idle.
 */
export function userActivityHeaders(): { readonly [name: string]: string } {
  return Date.now() - lastActivityAt < ACTIVE_MS ? {} : { [UNATTENDED_HEADER]: '1' };
}
