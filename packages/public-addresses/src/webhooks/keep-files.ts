import type { FileValue } from '@millrace/engine';
import type { Files } from '@millrace/files/files';
import { toApiFileError } from '@millrace/http/file-errors';
import type { ArrivingFile } from '@millrace/http/parts';
import type { StartableWorkflow } from '@millrace/runtime/start-row';
import type { FastifyBaseLogger } from 'fastify';

/** Stores the files of a call, for the execution that it starts. */
export function keeperOf(
  files: Files,
  { organisationId }: StartableWorkflow,
  kept: FileValue[],
): (file: ArrivingFile) => Promise<FileValue> {
  return async ({ source, ...file }) => {
    const value = await files
      .save({ ...file, organisationId, executionId: null }, source)
      .catch((error: unknown) => {
        throw toApiFileError(error);
      });
    kept.push(value);
    return value;
  };
}

/** Gives up the files of a call that has started nothing; the sweep would find them a day later. */
export async function discardKept(
  files: Files,
  { organisationId }: StartableWorkflow,
  kept: readonly FileValue[],
  log: FastifyBaseLogger,
): Promise<void> {
  const ids = kept.map(({ $file }) => $file);
  await files.discard(organisationId, ids).catch((error: unknown) => {
    log.warn({ err: error }, 'could not discard the files of a call');
  });
}
