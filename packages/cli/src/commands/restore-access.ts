import { registry } from '@millrace/nodes';
import { BackupError } from '@millrace/operations/backup/errors';
import { includedKeys, type Manifest } from '@millrace/operations/backup/manifest';
import { restore } from '@millrace/operations/backup/restore';
import type { MovedOrganisation, RestoreSummary } from '@millrace/operations/backup/restoring';
import { adoptKeyFile, readKeyFile } from '@millrace/secrets/key-file';
import { createSecretKeys, hasKey, type SecretKeys } from '@millrace/secrets/keys';
import { secretOrAsk } from './ask.ts';
import { openSource, readPassphrase } from './backup-file.ts';
import { BackupProgress, formatBytes } from './backup-progress.ts';
import { filesOf } from './backup-store.ts';
import { withAnyDatabase } from './running-service.ts';
import { countOf } from './shared.ts';
import type { CommandResult } from './shell.ts';

/** Options of `restore`. */
export interface RestoreCommandOptions {
  readonly passphraseFile?: string;
  readonly keyFile?: string;
  readonly paused?: boolean;
  /** False: `--no-files`. */
  readonly files?: boolean;
  readonly name?: string;
  readonly keepIds?: boolean;
  readonly json?: boolean;
}

/** `restore` */
export async function restoreByCommand(file: string, options: RestoreCommandOptions): Promise<CommandResult> {
  const source = await openSource(file);
  const progress = new BackupProgress('Restoring', options.json !== true);
  return await withAnyDatabase({ createsFolder: true }, async (db, config) => {
    const keys = createSecretKeys(config);
    const given = options.keyFile === undefined ? [] : await readKeyFile(options.keyFile);
    const summary = await restore(db, source, {
      askPassphrase: () => findPassphrase(options),
      placeKeys: (manifest) => placeKeys(manifest, keys),
      keys: { own: keys, given },
      files:
        options.files === false
          ? null
          : { store: filesOf(db, config), freeDiskBytes: config.files.freeDiskBytes },
      isPaused: options.paused === true,
      name: options.name,
      keepsIds: options.keepIds === true,
      registry,
      onProgress: progress.update,
    });
    if (summary.organisation !== undefined) return describeMoved(summary, summary.organisation, options);
    const missing = await findMissing(summary.manifest, keys);
    return describe(summary, missing, keys, options);
  }).finally(() => {
    source.destroy();
    progress.end();
  });
}

async function findPassphrase(options: RestoreCommandOptions): Promise<string> {
  if (options.passphraseFile !== undefined) return await readPassphrase(options.passphraseFile);
  return (
    (await secretOrAsk('--passphrase-file (the backup is encrypted)', 'Passphrase of the backup', options)) ??
    ''
  );
}

/** Puts keys that the backup includes where the service looks for them. Those of MILLRACE_SECRET_KEY aren't Millrace's to write. */
async function placeKeys(manifest: Manifest, keys: SecretKeys): Promise<void> {
  const included = includedKeys(manifest);
  if (included.length === 0 || keys.source === 'variable') return;
  if (await adoptKeyFile(keys.filePath, included)) return;
  throw new BackupError(
    'restore_key',
    `${keys.filePath} has other keys than the backup. Move the file away, or give another data folder. Nothing was restored.`,
  );
}

async function findMissing(manifest: Manifest, keys: SecretKeys): Promise<string[]> {
  const missing: string[] = [];
  for (const id of manifest.secret_key_ids) if (!(await hasKey(keys, id))) missing.push(id);
  return missing;
}

function describe(
  { manifest, tables, files, migrated, requeued }: RestoreSummary,
  missing: readonly string[],
  keys: SecretKeys,
  options: RestoreCommandOptions,
): CommandResult {
  const bytes = tables.reduce((sum, table) => sum + table.bytes, 0);
  const executions = tables.find(({ name }) => name === 'executions')?.rows ?? 0;
  const lines = [
    `Restored the instance as of ${manifest.made_at}: ${countOf(executions, 'execution')}, ${formatBytes(bytes)}, verified against the manifest.`,
    ...(migrated.length === 0
      ? []
      : [`Migrated it from schema ${manifest.schema_version}: ${migrated.join(', ')}.`]),
    ...sayFiles(manifest, files),
    options.paused === true
      ? `Every organisation is paused: no schedule, execution or alert of it runs until "millrace orgs resume".`
      : `${countOf(requeued, 'execution')} will continue when the service starts.`,
    ...(missing.length === 0 ? [] : [missingKey(missing, keys)]),
    ...(options.paused === true ? [] : [STOP_THE_OLD_ONE]),
    'What was started or changed after that moment is not in it. Sessions were left out: everyone signs in again.',
  ];
  const json = {
    made_at: manifest.made_at,
    schema_version: manifest.schema_version,
    files,
    migrated,
    requeued,
    missing_secret_key_ids: missing,
    tables,
  };
  return { json, text: lines.join('\n') };
}

const STOP_THE_OLD_ONE =
  'Before you start it, make sure that the old instance is stopped and stays stopped: both would run the same schedules and waits.';

function describeMoved(
  { manifest, tables, files }: RestoreSummary,
  { id, name, accounts, demoted, unproved, revokedKeys, renumbered }: MovedOrganisation,
  options: RestoreCommandOptions,
): CommandResult {
  const rowsOf = (table: string) => tables.find((each) => each.name === table)?.rows ?? 0;
  const what = [countOf(rowsOf('workflows'), 'workflow'), countOf(rowsOf('executions'), 'execution')];
  const lines = [
    `Restored the organisation ${id}, "${name}", as of ${manifest.made_at}: ${what.join(', ')}, verified against the manifest.`,
    ...sayFiles(manifest, files),
    `${countOf(accounts, 'account')} of its members came with it; the others already had one here.`,
    ...(demoted === 0
      ? []
      : [
          `${countOf(demoted, 'member or invitation')} with the role system_admin got org_admin: give the role again if it is wanted here.`,
        ]),
    ...unproved.map(
      (email) =>
        `${email} isn't a member here: the account with this address never proved that it is theirs. To let its owner in: millrace members add --org ${id} --email ${email} --role ROLE`,
    ),
    ...(revokedKeys === 0
      ? []
      : [
          `${countOf(revokedKeys, 'API key')} ended: whoever issued it had not proved their address there, and the address belongs to an account here.`,
        ]),
    ...renumbered.map(
      ({ kind, lastFormer, shift }) =>
        `Its ${kind} have other ids here: the former one + ${shift}. Requests, flows and outputs with a former id (1 to ${lastFormer}) still find them.`,
    ),
    options.paused === true
      ? `It is paused. Resume it with "millrace orgs resume --org ${id}".`
      : 'It continues now.',
    `Where it comes from, it is still there, and paused: leave it so (never "millrace orgs resume" there), and point its webhooks and clients to this instance.`,
  ];
  const json = {
    organisation_id: id,
    name,
    accounts,
    demoted,
    unproved,
    revoked_api_keys: revokedKeys,
    files,
    renumbered: renumbered.map(({ kind, lastFormer, shift }) => ({
      kind,
      last_former_id: lastFormer,
      added: shift,
    })),
    made_at: manifest.made_at,
    tables,
  };
  return { json, text: lines.join('\n') };
}

function sayFiles({ files: promised }: RestoreSummary['manifest'], written: number): string[] {
  if (written > 0) return [`With the contents of ${countOf(written, 'file')}.`];
  if (promised === undefined || promised.files > 0)
    return ['The contents of files were not restored: put the copy of their folder in place.'];
  return [];
}

function missingKey(missing: readonly string[], keys: SecretKeys): string {
  const how =
    keys.source === 'variable'
      ? 'set MILLRACE_SECRET_KEY to it'
      : `put your copy of the key at ${keys.filePath} (mode 0600)`;
  return `The stored secrets need the key ${missing.join(', ')}: ${how}, or the service does not start. If it is lost, run "millrace secrets reset".`;
}
