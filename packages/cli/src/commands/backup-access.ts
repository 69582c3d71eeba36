import { SERVICE_VERSION } from '@millrace/api/version';
import { type BackupSummary, backUp } from '@millrace/operations/backup/backup';
import { createSecretKeys } from '@millrace/secrets/keys';
import { secretOrAsk } from './ask.ts';
import { readPassphrase, STANDARD, writeWhole } from './backup-file.ts';
import { BackupProgress, formatBytes } from './backup-progress.ts';
import { filesOf } from './backup-store.ts';
import { withAnyDatabase } from './running-service.ts';
import { countOf } from './shared.ts';
import { type CommandResult, RefusedError, UsageError } from './shell.ts';

/** Options of `backup`. */
export interface BackupCommandOptions {
  readonly organisation?: number;
  readonly encrypt?: boolean;
  readonly passphraseFile?: string;
  /** False: `--no-files`. */
  readonly files?: boolean;
  readonly includeKey?: boolean;
  readonly allowPlainKey?: boolean;
  readonly json?: boolean;
}

/** `backup` */
export async function backUpByCommand(
  file: string,
  options: BackupCommandOptions,
): Promise<CommandResult | null> {
  checkOptions(file, options);
  const passphrase = await findPassphrase(options);
  const progress = new BackupProgress('Backing up', options.json !== true);
  const summary = await withAnyDatabase({ createsFolder: false }, (db, config) =>
    writeWhole(file, (out) =>
      backUp(db, createSecretKeys(config), out, {
        productVersion: SERVICE_VERSION,
        passphrase,
        withKeys: options.includeKey === true,
        organisationId: options.organisation,
        store: options.files === false ? null : filesOf(db, config),
        onProgress: progress.update,
      }),
    ),
  ).finally(() => progress.end());
  const result = describe(file, summary);
  if (file !== STANDARD) return result;
  // Standard output has the backup.
  process.stderr.write(`${result.text}\n`);
  return null;
}

function checkOptions(file: string, options: BackupCommandOptions): void {
  if (file === STANDARD && options.json === true) {
    throw new UsageError('conflicting_options', '--json prints on standard output, where the backup goes.');
  }
  if (file === STANDARD && process.stdout.isTTY === true) {
    throw new UsageError(
      'terminal',
      'A backup is not for reading: redirect standard output, or name a file.',
    );
  }
  const isEncrypted = options.encrypt === true || options.passphraseFile !== undefined;
  if (options.includeKey === true && !isEncrypted && options.allowPlainKey !== true) {
    throw new UsageError(
      'plain_key',
      'With the key in it, a backup reveals every stored secret: add --passphrase-file or --encrypt, or --allow-plain-key if you encrypt it by other means.',
    );
  }
}

async function findPassphrase(options: BackupCommandOptions): Promise<string | null> {
  if (options.passphraseFile !== undefined) return await readPassphrase(options.passphraseFile);
  if (options.encrypt !== true) return null;
  const typed = await secretOrAsk('--passphrase-file', 'Passphrase of the backup', options);
  const again = await secretOrAsk('--passphrase-file', 'The same passphrase again', options);
  if (typed === undefined || typed === '' || typed !== again) {
    throw new RefusedError(
      'passphrase_mismatch',
      'The two passphrases differ, or are empty. Nothing was written.',
    );
  }
  return typed;
}

function describe(file: string, { manifest, checksums }: BackupSummary): CommandResult {
  const bytes = checksums.tables.reduce((sum, table) => sum + table.bytes, 0);
  const executions = checksums.tables.find(({ name }) => name === 'executions')?.rows ?? 0;
  const where = file === STANDARD ? 'standard output' : file;
  const { organisation } = manifest;
  const what = organisation === undefined ? 'Backed up' : `Backed up the organisation "${organisation.name}"`;
  const lines = [
    `${what} to ${where}: ${countOf(executions, 'execution')}, ${formatBytes(bytes)} before compression, as of ${manifest.made_at}.`,
  ];
  if (manifest.secret_keys === undefined && manifest.secret_key_ids.length > 0) {
    lines.push(
      `Stored secrets stay encrypted with the key ${manifest.secret_key_ids.join(', ')}, which is not in the backup: keep a copy of it elsewhere.`,
    );
  }
  lines.push(...sayFiles(checksums.files));
  const json = {
    file: where,
    made_at: manifest.made_at,
    ...(organisation === undefined ? {} : { organisation }),
    schema_version: manifest.schema_version,
    secret_key_ids: manifest.secret_key_ids,
    has_secret_keys: manifest.secret_keys !== undefined,
    files: checksums.files ?? null,
    tables: checksums.tables,
  };
  return { json, text: lines.join('\n') };
}

function sayFiles(files: BackupSummary['checksums']['files']): string[] {
  if (files === undefined) return ['The contents of files are not in it: copy their folder, too.'];
  const { files: count, bytes, unreadable } = files;
  return [
    ...(count === 0 ? [] : [`With the contents of ${countOf(count, 'file')}, ${formatBytes(bytes)}.`]),
    ...(unreadable.length === 0
      ? []
      : [
          `${countOf(unreadable.length, 'file')} could not be read, or had other content than was stored: ${unreadable.slice(0, 5).join(', ')}${unreadable.length > 5 ? ' ...' : ''}. Files that were deleted meanwhile are among them.`,
        ]),
  ];
}
