import { Type } from 'typebox';

export const DAY_S = 86_400;
export const MAX_WAIT_S = 30 * DAY_S;

/**
 * The node waits a little longer than its URL is valid: a callback accepted at the last moment is still on its way to the worker, and must
 * not arrive too late after being reported as accepted.
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

/** When a URL expires, in readable form. */
export function expiryText(expiresAtMs: number): string {
  return new Date(expiresAtMs).toISOString();
}
