import { findFiles, type JsonValue, joinPointer } from '@millrace/engine';
import { type FieldError, validationError } from '@millrace/errors/errors';
import type { Files } from '@millrace/files/files';
import { message } from '@millrace/messages';

/** @throws ApiError 422 if the `input_data` of a body names files that the organisation doesn't have */
export async function refuseUnknownFiles(
  files: Files,
  organisationId: number,
  input: JsonValue,
): Promise<void> {
  const found = findFiles(input);
  if (found.length === 0) return;
  const ids = found.map(({ id }) => id);
  const unknown = new Set(await files.listUnknown(organisationId, ids));
  const errors = found
    .filter(({ id }) => unknown.has(id))
    .map(({ path }): FieldError => {
      return {
        pointer: joinPointer('/input_data', ...path),
        code: 'file_not_found',
        message: message('service.file_unknown'),
      };
    });
  if (errors.length > 0) throw validationError(errors);
}
