import { resolve } from 'node:path';
import { copyFiles } from '@millrace/files/copy-files';
import { openStore } from '@millrace/files/open-store';
import { readInstallationId } from '@millrace/files/owned-store';
import { parseBucket } from '../settings/bucket.ts';
import { type Config, loadFileSettings } from '../settings/config.ts';
import { BackupProgress, formatBytes } from './backup-progress.ts';
import { withAnyDatabase } from './running-service.ts';
import { countOf } from './shared.ts';
import { type CommandResult, UsageError } from './shell.ts';

/** `files copy` */
export async function copyByCommand(
  from: string,
  options: { readonly json?: boolean },
): Promise<CommandResult> {
  const source = sourceOf(from);
  const progress = new BackupProgress('Copying', options.json !== true);
  const result = await withAnyDatabase({ createsFolder: false }, (db, config) => {
    refuseSame(source, config.files);
    const identify = () => readInstallationId(db);
    let bytes = 0;
    return copyFiles(db, openStore(source, identify), openStore(config.files, identify), (more) => {
      bytes += more;
      progress.update({ table: 'files', bytes });
    });
  }).finally(() => progress.end());
  const { copied, bytes, present, unreadable } = result;
  const lines = [
    `Copied ${countOf(copied, 'file', 'files')} (${formatBytes(bytes)}) from ${from}; ${present} were there already.`,
    ...unreadable.map((id) => `Not copied, because it is missing or isn't what was stored: ${id}`),
  ];
  return {
    json: { copied, bytes, present, unreadable },
    text: lines.join('\n'),
    isFailure: unreadable.length > 0,
  };
}

type Source = Pick<Config['files'], 'folder' | 's3'>;

/** @throws UsageError; ConfigError if the variables of the bucket are missing */
function sourceOf(from: string): Source {
  if (!from.startsWith('s3://')) return { folder: resolve(from), s3: null };
  if (parseBucket(from) === undefined) {
    throw new UsageError('invalid_argument', `"${from}" isn't s3:// with a bucket and, if wanted, a prefix.`);
  }
  return loadFileSettings(from);
}

/** @throws UsageError */
function refuseSame(source: Source, target: Source): void {
  const isSame =
    source.s3 === null || target.s3 === null
      ? source.s3 === target.s3 && source.folder === target.folder
      : source.s3.bucket === target.s3.bucket && source.s3.prefix === target.s3.prefix;
  if (!isSame) return;
  throw new UsageError(
    'invalid_argument',
    'The settings still name this place. Set MILLRACE_FILES_STORE or MILLRACE_FILES_FOLDER to where the files are to be.',
  );
}
