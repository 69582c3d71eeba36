import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readOwner } from '@millrace/files/folder-owner';
import { MARKER } from '@millrace/files/owned-store';
import type { FileSettings } from '@millrace/files/settings';
import { message } from '@millrace/messages';
import type { ContentsSeen } from './contents.ts';
import type { Finding } from './finding.ts';
import { inGigabytes, LITTLE_SPACE, type Space, spaceOf } from './machine-findings.ts';

/** What is known of this installation's files beside their folder. */
export interface KnownFiles {
  readonly installationId: string;
  /** Only asked if the folder is this installation's. */
  readonly lookForContents: () => Promise<ContentsSeen>;
}

/** Whether files can be stored, and are there. A folder that isn't there yet is judged by where it will be made. */
export async function filesFindings(
  { folder, freeDiskBytes }: Pick<FileSettings, 'folder' | 'freeDiskBytes'>,
  { installationId, lookForContents }: KnownFiles,
  readSpace: (path: string) => Promise<Space> = spaceOf,
): Promise<Finding[]> {
  const existing = await nearestFolder(folder);
  // Also if it is read-only: root would be told so, too.
  const mode = constants.R_OK | constants.W_OK | constants.X_OK;
  const isWritable = await access(existing, mode).then(
    () => true,
    () => false,
  );
  if (!isWritable) return [unwritable(folder)];
  const owner = await readOwner(folder);
  const findings =
    owner === null || owner === installationId
      ? contentsFindings(folder, await lookForContents())
      : [foreign(folder, owner)];
  return [...findings, ...spaceFindings(folder, await readSpace(existing), freeDiskBytes)];
}

async function nearestFolder(path: string): Promise<string> {
  const parent = dirname(path);
  const isThere = await access(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );
  return isThere || parent === path ? path : nearestFolder(parent);
}

function unwritable(path: string): Finding {
  return {
    check: 'files',
    level: 'error',
    what: message('doctor.files_unwritable', { path }),
    why: message('doctor.files_unwritable_why'),
    fix: message('doctor.files_unwritable_fix'),
  };
}

function foreign(path: string, owner: string): Finding {
  return {
    check: 'files',
    level: 'error',
    what: message('doctor.files_foreign', { path, owner }),
    why: message('doctor.files_foreign_why'),
    fix: message('doctor.files_foreign_fix', { path: join(path, MARKER) }),
  };
}

/** @param path where they should be */
export function contentsFindings(path: string, { looked, missing }: ContentsSeen): Finding[] {
  const [file] = missing;
  if (file === undefined) return [];
  return [
    {
      check: 'files',
      level: 'error',
      what: message('doctor.contents_missing', { count: missing.length, looked, path, file }),
      why: message('doctor.contents_missing_why'),
      fix: message('doctor.contents_missing_fix'),
    },
  ];
}

function spaceFindings(path: string, { free, total }: Space, kept: number): Finding[] {
  const left = free - kept;
  if (left > LITTLE_SPACE.bytes || left > total * LITTLE_SPACE.share) return [];
  return [
    {
      check: 'files',
      level: left <= 0 ? 'error' : 'warning',
      what: message('doctor.disk_full', { path, gigabytes: inGigabytes(free) }),
      why: message('doctor.files_disk_why', { gigabytes: inGigabytes(kept) }),
      fix: message('doctor.files_disk_fix'),
    },
  ];
}
