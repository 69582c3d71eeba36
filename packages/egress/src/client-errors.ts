import { HttpClientError } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';

/** Converts any error of an exchange to one that a workflow's author understands. `host` is the host being called. */
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
        message('egress.headers_too_large', { host }),
        options,
      );
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'ETIMEDOUT':
      return new HttpClientError('timeout', message('egress.connect_timeout', { host }), options);
    case 'UND_ERR_INVALID_ARG':
      return new HttpClientError(
        'invalid_url',
        message('egress.cannot_send', { host, reason: messageOf(cause) }),
        options,
      );
    default:
      return new HttpClientError(
        'connection_failed',
        message('egress.connection_failed', { host, reason: explain(code), code }),
        options,
      );
  }
}

function explain(code: string): Message {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'ENODATA')
    return message('egress.not_resolved');
  if (code === 'ECONNREFUSED') return message('egress.refused');
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH') return message('egress.not_reachable');
  if (code.startsWith('Z_') || code.startsWith('ERR__ERROR')) return message('egress.damaged');
  if (/CERT|SIGNATURE|ISSUER|TLS|SSL/.test(code)) return message('egress.not_trusted');
  if (code.startsWith('HPE_')) return message('egress.not_http');
  return message('egress.closed_early');
}

/** The most specific error: an AggregateError's first member, a wrapped error's cause. */
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
  return error instanceof Error ? error.message : String(error);
}
