import { createGuardedSockets } from '@millrace/egress/guarded-socket';
import { ServiceError } from '@millrace/engine';
import type { Caller } from '@millrace/runtime/node-services';
import { afterEach, expect } from 'vitest';

/** A signal that never aborts. */
export const never = new AbortController().signal;

/** Who calls in these tests; nothing asks who it is. */
export const anybody = {} as Caller;

/** Sockets that reach this machine under any name, and nothing else. */
export const sockets = createGuardedSockets({
  allowHosts: ['127.0.0.1'],
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
});

/** What each test of a file leaves to clean up, in order. */
export function useCleanUps(): (() => unknown)[] {
  const cleanUps: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0)) await cleanUp();
  });
  return cleanUps;
}

/** How work fails, in an error that does not repeat the password. */
export async function errorWithout(password: string, work: Promise<unknown>): Promise<ServiceError> {
  const ended: unknown = await work.catch((error: unknown) => error);
  if (!(ended instanceof ServiceError)) throw new Error('it did not fail', { cause: ended });
  expect(`${ended.message} ${JSON.stringify(ended)}`).not.toContain(password);
  return ended;
}
