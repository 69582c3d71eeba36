import { Type } from 'typebox';

export const DAY_S = 86_400;
export const MAX_WAIT_S = 30 * DAY_S;

/**
 * The node waits a little longer than its address works: what was accepted in the last moment is on its way to the
 * worker, and must not be told "accepted" and then come too late.
 */
export const CALLBACK_GRACE_MS = 1_000;

export function timeoutProperty(description: string, defaultS: number) {
  return Type.Integer({
    title: 'Maximum wait',
    description: `${description} At most 30 days.`,
    minimum: 1,
    maximum: MAX_WAIT_S,
    default: defaultS,
  });
}

/** The moment after which an address no longer works, for people. */
export function expiryText(expiresAtMs: number): string {
  return new Date(expiresAtMs).toISOString();
}
