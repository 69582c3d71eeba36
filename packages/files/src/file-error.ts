import type { Message } from '@millrace/messages';
import { ExplainedError } from '@millrace/messages/explained-error';

/**
 * - `file_too_large`: more bytes than a file may have
 * - `storage_full`: the organisation has used up its storage
 * - `file_store_full`: the disk has
 * - `file_store_unavailable`: the store can't be written or read now
 * - `upload_expired`: the writer was silent for so long that its file was given up
 * - `file_missing`: there is a row, but no bytes
 */
export type FileErrorCode =
  | 'file_too_large'
  | 'storage_full'
  | 'file_store_full'
  | 'file_store_unavailable'
  | 'upload_expired'
  | 'file_missing';

/** A file can't be written or read. */
export class FileError extends ExplainedError {
  override readonly name = 'FileError';
  readonly code: FileErrorCode;

  constructor(code: FileErrorCode, explanation: Message, options: { readonly cause?: unknown } = {}) {
    super(explanation, options);
    this.code = code;
  }

  /** Whether another attempt could succeed without anybody doing anything. */
  get isPassing(): boolean {
    return this.code === 'file_store_unavailable' || this.code === 'upload_expired';
  }
}
