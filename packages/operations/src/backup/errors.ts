/**
 * - `backup_damaged`: the file was changed, cut off, or isn't a backup at all
 * - `backup_passphrase`: it is encrypted, and the passphrase is missing or wrong
 * - `backup_version`: it was made by a newer version of Millrace, or the database was
 * - `restore_not_empty`: the instance to restore into has content
 * - `restore_running`: another restore into it is running
 * - `restore_key`: the data folder has another key, or a key of the backup is missing
 * - `restore_clash`: the instance has something with the same id or name as the organisation to be restored
 * - `restore_schema`: the instance has another schema than the backup of the organisation
 * - `restore_space`: the disk has no room for the contents of files
 * - `organisation_not_paused`: something of the organisation to be moved may still run
 */
export type BackupErrorCode =
  | 'backup_damaged'
  | 'backup_passphrase'
  | 'backup_version'
  | 'restore_not_empty'
  | 'restore_running'
  | 'restore_key'
  | 'restore_clash'
  | 'restore_schema'
  | 'restore_space'
  | 'organisation_not_paused';

/** A backup can't be made or restored; the message says why and what to do. Nothing was changed. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
  readonly code: BackupErrorCode;

  constructor(code: BackupErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** @param where the part of the file, such as `the table workflows` */
export function damaged(where: string, cause?: unknown): BackupError {
  const reason = cause instanceof Error ? ` (${cause.message})` : '';
  return new BackupError(
    'backup_damaged',
    `The backup is damaged or incomplete: ${where}${reason}. Nothing was restored. Use another copy of it, or another backup.`,
    { cause },
  );
}
