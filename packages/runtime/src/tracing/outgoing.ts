/** The span of what is about to cause something, as `traceparent` headers. */
export interface OutgoingTrace {
  /** For executions of this service. */
  readonly traceparent: string;
  /** For calls to others; null if they aren't told. */
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
