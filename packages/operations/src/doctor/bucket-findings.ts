import { FileError } from '@millrace/files/file-error';
import type { OwnerMark } from '@millrace/files/owned-store';
import { message, verbatim } from '@millrace/messages';
import type { ContentsSeen } from './contents.ts';
import { contentsFindings, type KnownFiles } from './files-findings.ts';
import type { Finding } from './finding.ts';

/** Whether the bucket for files responds, is this installation's, and has the files. Changes nothing in it. */
export async function bucketFindings(
  { place, mark }: { readonly place: string; readonly mark: Pick<OwnerMark, 'name' | 'read'> },
  { installationId, lookForContents }: KnownFiles,
): Promise<Finding[]> {
  let owner: string | null;
  let seen: ContentsSeen;
  try {
    owner = await mark.read();
    if (owner !== null && owner !== installationId) return [foreign(place, mark.name, owner)];
    seen = await lookForContents();
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return [unreachable(place, error)];
  }
  return contentsFindings(place, seen);
}

function unreachable(place: string, { cause }: FileError): Finding {
  const reason = verbatim(cause instanceof Error ? cause.message : '');
  return {
    check: 'files',
    level: 'error',
    what: message('doctor.bucket_unreachable', { place, reason }),
    why: message('doctor.files_unwritable_why'),
    fix: message('doctor.bucket_unreachable_fix'),
  };
}

function foreign(place: string, mark: string, owner: string): Finding {
  return {
    check: 'files',
    level: 'error',
    what: message('doctor.bucket_foreign', { place, owner }),
    why: message('doctor.bucket_foreign_why'),
    fix: message('doctor.bucket_foreign_fix', { mark }),
  };
}
