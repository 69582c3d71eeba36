import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 25;
/** Only ends what hangs: on a machine with forty other things to do, starting a few processes takes minutes. */
const PATIENT_MS = 600_000;

/**
 * Waits for a condition that other processes bring about.
 *
 * @param what named in the error on timeout
 * @param condition true, or any value other than false, null and undefined; a throw counts as "not yet"
 */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  timeoutMs = PATIENT_MS,
): Promise<NonNullable<T>> {
  const giveUpAt = performance.now() + timeoutMs;
  for (;;) {
    let problem: unknown;
    try {
      const value = await condition();
      if (value !== false && value !== null && value !== undefined) return value;
    } catch (error) {
      problem = error;
    }
    if (performance.now() > giveUpAt) {
      throw new Error(`Waited ${timeoutMs} ms in vain for ${what}`, { cause: problem });
    }
    await pause(POLL_MS);
  }
}
