import type { ApiError } from '@millrace/errors/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';

const BUSY: ReadonlySet<number> = new Set([429, 503]);

/** Seconds after which what was refused may be tried again; null if it wasn't refused because too much was going on. */
export function busyForSeconds({ status, headers }: ApiError): number | null {
  return BUSY.has(status) ? Math.max(1, Number(headers['retry-after'] ?? 0)) : null;
}

/** Passes on what a refusal says to programs. */
export function setHeaders(reply: FastifyReply, { headers }: ApiError): void {
  for (const [name, value] of Object.entries(headers)) reply.header(name, value);
}

/** Logs what a visitor is only told of. */
export function logDefect(request: FastifyRequest, error: ApiError): void {
  request.log.error({ err: error.cause ?? error, code: error.code }, 'request error');
}
