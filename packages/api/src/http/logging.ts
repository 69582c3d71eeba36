import type { FastifyReply, FastifyRequest } from 'fastify';
import { redactUrl } from './redact.ts';

/** What failed the requests that are being answered, in short. */
const causes = new WeakMap<FastifyRequest, string>();

/** Keeps the cause for the request's own line: an error that repeats is logged in full once only. */
export function noteCause(request: FastifyRequest, error: unknown): void {
  causes.set(request, error instanceof Error ? error.message : String(error));
}

const QUIET_PATHS = new Set(['/healthz', '/readyz']);

/** Writes one line per answered request: who, what, how it ended; never a header, a body or a query string. */
export function logRequest(request: FastifyRequest, reply: FastifyReply): void {
  const path = redactUrl(request.originalUrl);
  const line = {
    method: request.method,
    path,
    route: request.routeOptions.url,
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime * 10) / 10,
    ip: request.ip,
    key_id: request.principal?.keyId,
    cause: causes.get(request),
  };
  if (reply.statusCode >= 500) request.log.warn(line, 'request failed');
  else if (QUIET_PATHS.has(path)) request.log.debug(line, 'request');
  else request.log.info(line, 'request');
}

/** An error for the log: its own words and where it came from, with all causes. Never the fields a driver adds. */
export function describeError(error: unknown): { readonly [field: string]: unknown } {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = 'code' in error ? { code: String(error.code) } : {};
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) };
  return { type: error.name, message: error.message, ...code, stack: error.stack, ...cause };
}
