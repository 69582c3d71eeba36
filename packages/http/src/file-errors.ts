import { ApiError, type ErrorCode } from '@millrace/errors/errors';
import { FileError, type FileErrorCode } from '@millrace/files/file-error';

const CODES: Readonly<Record<FileErrorCode, ErrorCode>> = {
  file_too_large: 'file_too_large',
  storage_full: 'storage_full',
  file_store_full: 'file_store_unavailable',
  file_store_unavailable: 'file_store_unavailable',
  file_missing: 'file_store_unavailable',
  upload_expired: 'request_timeout',
};
/** Files are deleted with their executions, every ten minutes; a store is back when somebody has mended it. */
const RETRY_AFTER_SECONDS: { readonly [code: string]: string } = {
  storage_full: '600',
  file_store_unavailable: '60',
};

/** What a request is told about a file that can't be written or read; other errors stay. */
export function toApiFileError(error: unknown): unknown {
  if (!(error instanceof FileError)) return error;
  const code = CODES[error.code];
  const seconds = RETRY_AFTER_SECONDS[code];
  return new ApiError(code, error.explanation, {
    ...(seconds === undefined ? {} : { headers: { 'retry-after': seconds } }),
    cause: error,
  });
}
