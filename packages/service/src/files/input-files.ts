import { findFiles, type JsonValue, joinPointer } from '@millrace/engine';
import { type FieldError, validationError } from '@millrace/errors/errors';
import type { Files } from '@millrace/files/files';
import { message } from '@millrace/messages';

/**
 * @param at JSON Pointer of the input in the body
 * @throws ApiError 422 if the input names files that the organisation doesn't have
 */
export async function refuseUnknownFiles(
  files: Files,
  organisationId: number,
  input: JsonValue,
  at: string,
): Promise<void> {
  const found = findFiles(input);
  if (found.length === 0) return;
  const ids = found.map(({ id }) => id);
  const unknown = new Set(await files.listUnknown(organisationId, ids));
  const errors = found
    .filter(({ id }) => unknown.has(id))
    .map(({ path }): FieldError => {
      return {
        pointer: joinPointer(at, ...path),
        code: 'file_not_found',
        message: message('service.file_unknown'),
      };
    });
  if (errors.length > 0) throw validationError(errors);
}
