import { randomUUID } from 'node:crypto';
import type { FileValue } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import type { KeptFiles } from '@millrace/http/keep-files';
import type { KeepPart } from '@millrace/http/parts';
import { message } from '@millrace/messages';
import { type FieldFault, type FormField, filesOf, isAccepted } from '@millrace/triggers';

/** The files of one submission: those that its form asks for are stored while they arrive. */
export interface SubmittedFiles {
  /** Of one that isn't stored, what stands for it until the submission is refused; null if no field asks for it. */
  readonly take: KeepPart<FileValue | null>;
  /** Those that are too large. */
  readonly faults: readonly FieldFault[];
  /** Why another one couldn't be stored. */
  readonly problem: ApiError | null;
}

/** @param mayStore asked before each one, always with the same answer */
export function createSubmittedFiles(
  fields: readonly FormField[],
  kept: KeptFiles,
  mayStore: () => boolean,
): SubmittedFiles {
  const faults: FieldFault[] = [];
  const counts = new Map<string, number>();
  let problem: ApiError | null = null;
  return {
    faults,
    get problem() {
      return problem;
    },
    async take(file, name) {
      const field = fields.find((each) => each.type === 'file' && each.name === name);
      if (field === undefined) return null;
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      const unstored = { $file: randomUUID(), name: file.name, type: file.type, size: 0, sha256: '' };
      const isWanted = count <= filesOf(field) && isAccepted(field.accept, file);
      if (!isWanted || faults.length > 0 || problem !== null || !mayStore()) return unstored;
      try {
        return await kept.keep(file);
      } catch (error) {
        // The rest is read nevertheless, so that nobody has to enter it again.
        if (!(error instanceof ApiError) || error.code === 'invalid_body') throw error;
        if (error.code === 'file_too_large')
          faults.push({ name, message: message('form.file_too_large', { name: file.name }) });
        else problem = error;
        return unstored;
      }
    },
  };
}
