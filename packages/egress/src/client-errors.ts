import { HttpClientError } from '@millrace/engine';

/** Any error of an exchange as one that a workflow's author can read. `host` is the host being called. */
export function toClientError(error: unknown, host: string): HttpClientError {
  if (error instanceof HttpClientError) return error;
  const cause = innermost(error);
  if (cause instanceof HttpClientError) return cause;
  const code = codeOf(cause);
  const options = { cause: error };
  switch (code) {
    case 'UND_ERR_HEADERS_OVERFLOW':
    case 'HPE_HEADER_OVERFLOW':
      return new HttpClientError(
        'response_too_large',
        `The headers of the answer of ${host} are too large.`,
        options,
      );
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'ETIMEDOUT':
      return new HttpClientError('timeout', `${host} did not accept a connection in time.`, options);
    case 'UND_ERR_INVALID_ARG':
      return new HttpClientError(
        'invalid_url',
        `The request to ${host} cannot be sent: ${messageOf(cause)}.`,
        options,
      );
    default:
      return new HttpClientError('connection_failed', `${host}: ${explain(code)} (${code}).`, options);
  }
}

function explain(code: string): string {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'ENODATA')
    return 'the name could not be resolved';
  if (code === 'ECONNREFUSED') return 'the connection was refused';
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH') return 'the host cannot be reached';
  if (code.startsWith('Z_') || code.startsWith('ERR__ERROR')) return 'the compressed answer is damaged';
  if (/CERT|SIGNATURE|ISSUER|TLS|SSL/.test(code)) return 'no trusted encrypted connection could be made';
  if (code.startsWith('HPE_')) return 'the answer is not HTTP';
  return 'the connection was closed before the answer was complete';
}

/** The error that says most: an AggregateError's first member, a wrapped error's cause. */
function innermost(error: unknown): unknown {
  if (error instanceof HttpClientError) return error;
  if (error instanceof AggregateError && error.errors.length > 0) return innermost(error.errors[0]);
  if (error instanceof Error && codeOf(error) === 'unknown' && error.cause !== undefined)
    return innermost(error.cause);
  return error;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown reason';
}
