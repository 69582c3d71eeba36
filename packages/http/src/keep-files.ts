import type { FileValue } from '@millrace/engine';
import type { Files } from '@millrace/files/files';
import type { FastifyBaseLogger } from 'fastify';
import { toApiFileError } from './file-errors.ts';
import type { ArrivingFile } from './parts.ts';

/**
 * Does what stores files of a request, and deletes them if that fails.
 * @throws what `use` throws
 */
export async function withKeptFiles<Result>(
  files: Files,
  organisationId: number,
  log: FastifyBaseLogger,
  use: (kept: KeptFiles) => Promise<Result>,
): Promise<Result> {
  const kept = createKeptFiles(files, organisationId, log);
  try {
    return await use(kept);
  } catch (error) {
    await kept.giveUp();
    throw error;
  }
}

/** The files of a request, stored before it is known whether it will be accepted. */
export type KeptFiles = ReturnType<typeof createKeptFiles>;

function createKeptFiles(files: Files, organisationId: number, log: FastifyBaseLogger) {
  const values: FileValue[] = [];
  return {
    values: values as readonly FileValue[],
    /**
     * @param maxBytes if that is less than the settings allow
     * @throws ApiError
     */
    async keep({ source, ...file }: ArrivingFile, maxBytes = Number.POSITIVE_INFINITY) {
      const saving = files.save({ ...file, organisationId, executionId: null, maxBytes }, source);
      const value = await saving.catch((error: unknown) => Promise.reject(toApiFileError(error)));
      values.push(value);
      return value;
    },
    /** Deletes them, unless an execution uses them; what fails is left to the sweep. */
    async giveUp() {
      const ids = values.map(({ $file }) => $file);
      await files.discard(organisationId, ids).catch((error: unknown) => {
        log.warn({ err: error }, 'could not delete the files of a request');
      });
    },
  };
}
