import { tryParseJson } from '@millrace/engine';

/** A provider's error response, however the client library wrapped it. */
export interface ProviderRefusal {
  /** HTTP status; for an error in mid-stream, the one it would have had. Undefined if it has none. */
  readonly status: number | undefined;
  /** The provider's own error names: `insufficient_quota`, `overloaded_error`, `RESOURCE_EXHAUSTED`. */
  readonly names: readonly string[];
  readonly message: string;
  /** The full text, to be searched for words. */
  readonly text: string;
  readonly headers: { readonly [name: string]: string };
}

/** A refusal that arrived without the client library. */
export class ProviderResponse extends Error {
  override readonly name = 'ProviderResponse';
  readonly statusCode: number;
  readonly responseBody: string;
  readonly responseHeaders: { readonly [name: string]: string };
  constructor(status: number, body: string, headers: { readonly [name: string]: string }) {
    super('');
    this.statusCode = status;
    this.responseBody = body;
    this.responseHeaders = headers;
  }
}

/** The provider's refusal in an error of the client library; undefined if the provider didn't refuse. */
export function refusalIn(error: unknown): ProviderRefusal | undefined {
  if (!(error instanceof Error)) return undefined;
  const { statusCode, responseBody, responseHeaders, data, type, code } = error as Error & {
    statusCode?: unknown;
    responseBody?: unknown;
    responseHeaders?: unknown;
    data?: unknown;
    type?: unknown;
    code?: unknown;
  };
  const isWhole = error instanceof ProviderResponse || error.name === 'AI_APICallError';
  const isCall = isWhole && typeof statusCode === 'number' && statusCode >= 400;
  const isInStream = error.name === 'AI_StreamProviderError';
  if (!isCall && !isInStream) return undefined;
  const body = typeof responseBody === 'string' ? tryParseJson(responseBody) : data;
  const details = detailsOf(body);
  const names = [type, code, ...details.names].filter((name): name is string => typeof name === 'string');
  const text = typeof responseBody === 'string' ? responseBody : JSON.stringify(data ?? '');
  return {
    status: typeof statusCode === 'number' ? statusCode : undefined,
    names,
    message: details.message ?? (error.message === '' ? text : error.message),
    text: `${error.message}\n${text}`.slice(0, MAX_TEXT),
    headers: (responseHeaders ?? {}) as ProviderRefusal['headers'],
  };
}

const MAX_TEXT = 20_000;

/**
 * What the error bodies of the three formats have in common:
 * `{"error": {"message", "type", "code"}}` (OpenAI), `{"type": "error", "error": {"type", "message"}}` (Anthropic),
 * `{"error": {"code", "message", "status", "details": [...]}}` (Google). Some servers omit the outer object or send
 * `{"detail": "..."}`.
 */
function detailsOf(body: unknown): { message: string | undefined; names: unknown[] } {
  const outer = Array.isArray(body) ? asRecord(body[0]) : asRecord(body);
  const error = asRecord(outer.error ?? outer);
  const details = Array.isArray(error.details) ? error.details.map(asRecord) : [];
  const message = [error.message, outer.message, outer.detail, outer.error].find(
    (each) => typeof each === 'string' && each !== '',
  );
  return {
    message: message as string | undefined,
    names: [error.type, error.code, error.status, ...details.map(({ reason }) => reason)],
  };
}

/**
 * How many milliseconds the provider asks us to wait: `retry-after-ms` (OpenAI), `Retry-After` in seconds or as a date (RFC
 * 9110, 10.2.3), or the `retryDelay` of a google.rpc.RetryInfo in the body.
 */
export function retryAfterMs({ headers, text }: ProviderRefusal, nowMs: number): number | undefined {
  const exact = headers['retry-after-ms'];
  if (exact !== undefined && /^\d+(\.\d+)?$/.test(exact)) return Math.ceil(Number(exact));
  const header = headers['retry-after'];
  if (header !== undefined && /^\d+(\.\d+)?$/.test(header)) return Math.ceil(Number(header) * 1000);
  const dateMs = header === undefined ? Number.NaN : Date.parse(header);
  if (!Number.isNaN(dateMs)) return Math.max(0, dateMs - nowMs);
  const delay = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(text)?.[1];
  return delay === undefined ? undefined : Math.ceil(Number(delay) * 1000);
}

function asRecord(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null ? (value as { readonly [name: string]: unknown }) : {};
}
