import type { FastifyReply, FastifyRequest } from 'fastify';
import { redactUrl } from './redact.ts';

/** Short error causes of the requests in progress. */
const causes = new WeakMap<FastifyRequest, string>();

/** Keeps the cause for the request's own log line: a repeated error is logged in full only once. */
export function noteCause(request: FastifyRequest, error: unknown): void {
  causes.set(request, error instanceof Error ? error.message : String(error));
}

const QUIET_PATHS = new Set(['/healthz', '/readyz']);

/** Logs one line per completed request: caller, route and outcome; never a header, a body or a query string. */
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
    execution_id: executionOf(request, reply),
    cause: causes.get(request),
  };
  if (reply.statusCode >= 500) request.log.warn(line, 'request failed');
  else if (QUIET_PATHS.has(path)) request.log.debug(line, 'request');
  else request.log.info(line, 'request');
}

/** The execution that a request started, or was about: it leads from the request's line to those of the execution. */
function executionOf(request: FastifyRequest, reply: FastifyReply): number | undefined {
  const location = reply.getHeader('location');
  const started =
    location === undefined ? undefined : /\/executions\/(\d{1,16})$/.exec(String(location))?.[1];
  const text = started ?? executionInPath(request);
  return text !== undefined && /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined;
}

function executionInPath({ params, routeOptions: { url = '' } }: FastifyRequest): string | undefined {
  if (!url.includes('/executions/:') || !/\/executions\/:(?:id|execution)\b/.test(url)) return undefined;
  const { id, execution = id } = (params ?? {}) as { readonly [name: string]: string | undefined };
  return execution;
}

/** An error for the log: its message and stack, with all causes. Never the fields a driver adds. */
export function describeError(error: unknown): { readonly [field: string]: unknown } {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = 'code' in error ? { code: String(error.code) } : {};
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) };
  return { type: error.name, message: error.message, ...code, stack: error.stack, ...cause };
}
