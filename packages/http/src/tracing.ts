import { formatTraceparent } from '@millrace/runtime/tracing/trace-context';
import type { OpenSpan, Tracer } from '@millrace/runtime/tracing/tracer';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on all routes of both APIs if spans are recorded. */
    trace: RequestTrace | null;
  }
}

/** The span of a request that is under way. */
interface RequestTrace {
  readonly span: OpenSpan;
  readonly startMs: number;
}

/**
 * Makes a span for each request to the public and the admin API: pages and probes have none. Its log lines have the ids of the trace and
 * the span. Register it before hooks that refuse requests.
 */
export function addTracing(app: FastifyInstance, tracer: Tracer | null): void {
  app.decorateRequest('trace', null);
  if (tracer === null) return;
  app.addHook('onRequest', (request, _reply, done) => {
    if (isTraced(request)) {
      const { traceparent: header } = request.headers;
      const span = tracer.beginRequest(typeof header === 'string' ? header : undefined);
      request.trace = { span, startMs: Date.now() };
      const { traceId, spanId } = span.context;
      request.log = request.log.child({ trace_id: traceId, span_id: spanId });
    }
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    if (request.trace !== null)
      tracer.endRequest(request.trace.span, describe(request, reply, request.trace));
    done();
  });
}

/** The span of a request as a `traceparent` header, for what it starts; null without tracing. */
export function traceparentOf({ trace }: FastifyRequest): string | null {
  return trace === null ? null : formatTraceparent(trace.span.context);
}

function isTraced({ is404, routeOptions: { config } }: FastifyRequest): boolean {
  const { scope, admin, webhook, callback } = config;
  return !is404 && (scope !== undefined || admin !== undefined || webhook === true || callback === true);
}

/** Routes instead of paths: those of webhooks and callbacks contain secrets. */
function describe(request: FastifyRequest, reply: FastifyReply, { startMs }: RequestTrace) {
  const { method, principal, routeOptions } = request;
  const { statusCode } = reply;
  const route = routeOptions.url ?? '';
  return {
    name: `${method} ${route}`,
    startMs,
    endMs: startMs + reply.elapsedTime,
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': statusCode,
      'millrace.request.id': request.id,
      ...(principal === null ? {} : { 'millrace.organisation.id': principal.organisationId }),
    },
    errorCode: statusCode >= 500 ? String(statusCode) : null,
  };
}
