import { ApiError } from '@millrace/errors/errors';
import type { FastifyReply } from 'fastify';

/** How long a stream goes on at most for somebody who may not read it any more. */
const CHECK_MS = 5_000;

/** Whether a route answers with events for as long as somebody reads. */
export function isStream(produces: readonly string[] | undefined): boolean {
  return produces?.includes('text/event-stream') === true;
}

/**
 * Ends an answer that goes on and on as soon as who reads it may not open it any more.
 * @param check the checks at its beginning; it throws an ApiError when they fail
 * @param everyMs how often it is made again
 */
export function endWhenRefused(reply: FastifyReply, check: () => Promise<unknown>, everyMs = CHECK_MS): void {
  // Gone while its first checks were made: nothing would stop the timer.
  if (reply.raw.destroyed) return;
  const timer = setInterval(() => {
    check().catch((error: unknown) => {
      // A database that is away for a moment tells nothing of who reads.
      if (error instanceof ApiError && error.status < 500) reply.raw.destroy();
    });
  }, everyMs);
  timer.unref();
  reply.raw.once('close', () => clearInterval(timer));
}
