import { HttpClientError, ServiceError } from '@millrace/engine';

/**
 * Converts an error of opening a guarded connection; any other error stays.
 * @param code for a connection that failed and may succeed later
 */
export function connectError<Other>(error: Other, code: string): Other | ServiceError {
  if (!(error instanceof HttpClientError)) return error;
  const isPassing = error.code === 'timeout' || error.code === 'connection_failed';
  return new ServiceError(isPassing ? code : error.code, error.explanation, {
    retryable: isPassing || error.code === 'aborted',
    cause: error,
  });
}

/** Whether a connection failed because of its encryption, by what the system said. */
export function isTlsFault(reason: string): boolean {
  return /certificate|self.signed|SSL|TLS|altnames/i.test(reason);
}
