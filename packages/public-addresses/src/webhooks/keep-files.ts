import type { FileValue } from '@millrace/engine';
import type { Files } from '@millrace/files/files';
import { toApiFileError } from '@millrace/http/file-errors';
import type { StartableWorkflow } from '@millrace/runtime/start-row';
import type { ArrivedFile } from './body.ts';

/** Stores the files of a call, for the execution that it starts; the sweep deletes those of a call that starts none. */
export function keeperOf(
  files: Files,
  { organisationId }: StartableWorkflow,
  kept: FileValue[],
): (file: ArrivedFile) => Promise<FileValue> {
  return async ({ bytes, ...file }) => {
    async function* content(): AsyncGenerator<Uint8Array> {
      yield bytes;
    }
    const upload = { ...file, organisationId, executionId: null, declaredBytes: bytes.byteLength };
    const value = await files.save(upload, content()).catch((error: unknown) => {
      throw toApiFileError(error);
    });
    kept.push(value);
    return value;
  };
}
