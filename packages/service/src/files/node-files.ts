import type { Readable } from 'node:stream';
import { DatabaseUnavailableError } from '@millrace/database/errors';
import { type FileService, fileIdOf, ServiceError } from '@millrace/engine';
import { FileError } from '@millrace/files/file-error';
import type { ByteRange } from '@millrace/files/file-store';
import type { Files } from '@millrace/files/files';
import { fileName, mediaType } from '@millrace/files/names';
import type { FileRow } from '@millrace/files/statements';
import { message } from '@millrace/messages';
import type { Caller } from '@millrace/runtime/node-services';
import { retryForNode } from '@millrace/runtime/retry-for-node';

/** Files for nodes: an execution reads those that it refers to, and refers to those that it writes. */
export function createNodeFiles(files: Files): (caller: Caller) => FileService {
  return ({ organisationId, executionId }) => ({
    async open(value) {
      const id = fileIdOf(value);
      if (id === undefined) {
        throw new ServiceError(
          'invalid_config',
          message('service.no_file', { example: '{{trigger.data.invoice}}' }),
        );
      }
      const file = await retryForNode(() => files.findOf(organisationId, executionId, id));
      if (file === undefined) throw new ServiceError('file_not_found', message('service.file_not_given'));
      const { name, type, size, sha256 } = file;
      async function* read(row: FileRow, range?: ByteRange): AsyncGenerator<Uint8Array> {
        const content: Readable = await files.open(row, range).catch(asServiceError);
        yield* content as AsyncIterable<Uint8Array>;
      }
      return { name, type, size, sha256, read: (range) => read(file, range) };
    },
    save: ({ name, type }, content) => {
      const file = { name: fileName(name), type: mediaType(type), organisationId, executionId };
      return files.save({ ...file, declaredBytes: null }, content).catch(asServiceError);
    },
  });
}

function asServiceError(error: unknown): never {
  if (error instanceof DatabaseUnavailableError) {
    const explanation = message('ports.database_unavailable');
    throw new ServiceError('database_unavailable', explanation, { retryable: true, cause: error });
  }
  if (!(error instanceof FileError)) throw error;
  const { code, explanation, isPassing } = error;
  throw new ServiceError(code, explanation, { retryable: isPassing, cause: error });
}
