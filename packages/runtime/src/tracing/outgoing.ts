/** The span of a cause, as `traceparent` headers for its effects. */
export interface OutgoingTrace {
  /** For executions of this service. */
  readonly traceparent: string;
  /** For calls to other services; null if traces aren't propagated. */
  readonly header: string | null;
}

interface Outgoing {
  readonly headers?: Headers | { readonly [name: string]: string };
}

/** A request with the header that continues the trace, unless it has one of its own. */
export function withTraceparent<Request extends Outgoing>(
  request: Request,
  trace: OutgoingTrace | null | undefined,
): Request {
  const traceparent = trace?.header ?? null;
  if (traceparent === null) return request;
  const given = request.headers instanceof Headers ? Object.fromEntries(request.headers) : request.headers;
  if (given !== undefined && Object.keys(given).some((name) => name.toLowerCase() === 'traceparent')) {
    return request;
  }
  return { ...request, headers: { ...given, traceparent } };
}
