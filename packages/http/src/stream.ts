import { ApiError } from '@millrace/errors/errors';
import type { FastifyReply } from 'fastify';

/** Maximum time a stream continues for someone who has lost access to it. */
const CHECK_MS = 5_000;

/** Whether a route responds with events for as long as the client reads. */
export function isStream(produces: readonly string[] | undefined): boolean {
  return produces?.includes('text/event-stream') === true;
}

/**
 * Ends a streaming response as soon as its reader may no longer open it.
 * @param check the checks at its start; throws an ApiError on failure
 * @param everyMs how often it is repeated
 */
export function endWhenRefused(reply: FastifyReply, check: () => Promise<unknown>, everyMs = CHECK_MS): void {
  // Closed during the first checks: nothing would stop the timer.
  if (reply.raw.destroyed) return;
  const timer = setInterval(() => {
    check().catch((error: unknown) => {
      // A temporary database failure doesn't mean that access was lost.
      if (error instanceof ApiError && error.status < 500) reply.raw.destroy();
    });
  }, everyMs);
  timer.unref();
  reply.raw.once('close', () => clearInterval(timer));
}
