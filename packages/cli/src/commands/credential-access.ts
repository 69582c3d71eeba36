import { presentCredential } from '@millrace/api/admin/credentials/present';
import { addCredential, changeCredential, deleteCredential } from '@millrace/credentials/credentials';
import { connectionOf } from '@millrace/credentials/oauth/connection-state';
import { presetOf, withPreset } from '@millrace/credentials/oauth/presets';
import type { CredentialUsage } from '@millrace/credentials/references';
import { BOUND_TYPES } from '@millrace/credentials/schema';
import { type CredentialRow, findOwnerOfCredential, listCredentials } from '@millrace/credentials/store';
import type { Database } from '@millrace/database/database';
import type { CredentialType, JsonObject } from '@millrace/engine';
import { notFound } from '@millrace/errors/errors';
import { registry } from '@millrace/nodes';
import { createSecretKeys, prepareSecretKeys, type SecretKeys } from '@millrace/secrets/keys';
import { readList } from '../read-list.ts';
import type { Config } from '../settings/config.ts';
import { organisationOrAsk, textOrAsk } from './ask.ts';
import {
  askForMissing,
  type FieldSources,
  readCredentialType,
  readGivenFields,
} from './credential-fields.ts';
import { withDatabase } from './running-service.ts';
import { ID_COLUMN, OPERATOR } from './shared.ts';
import { type CommandResult, UsageError } from './shell.ts';
import { card, moment, table } from './table.ts';

/** Shared by `add` and `update`. */
export interface CredentialInput extends FieldSources {
  readonly name?: string;
  readonly host?: readonly string[];
}

/** `credentials add` */
export async function addCredentialByCommand(
  options: CredentialInput & { readonly type?: string; readonly org?: string },
): Promise<CommandResult> {
  const type = await readCredentialType(options.type, options);
  const name = await textOrAsk(options.name, '--name', 'What is it for?', options);
  const given = await readGivenFields(type, options);
  const hosts = await readHosts(type, given, options);
  const fields = await askForMissing(type, withPreset(type, given), options);
  return withDatabase(async (db, config) => {
    const organisation = await organisationOrAsk(db, options);
    const keys = await openKeys(db, config);
    const row = await addCredential(
      { db, keys },
      { organisationId: organisation.id, name, type, hosts, fields },
      OPERATOR,
    );
    const connects =
      connectionOf(row) === null
        ? ''
        : '\nConnect it on the credentials page of the admin area before nodes use it.';
    const hint = `Nodes refer to it by its ID: "credential_id": ${row.id}.${connects}`;
    return { json: presentCredential(row), text: `${show(row)}\n\n${hint}` };
  });
}

/** `credentials list` */
export function listCredentialsByCommand(options: { org?: string; json?: boolean }): Promise<CommandResult> {
  return withDatabase(async (db) => {
    const organisation = await organisationOrAsk(db, options);
    const rows = await listCredentials(db, organisation.id);
    const text = table(
      rows,
      [
        ID_COLUMN,
        { title: 'NAME', cell: (row) => row.name },
        { title: 'TYPE', cell: (row) => row.type },
        { title: 'HOSTS', cell: showHosts },
        { title: 'UPDATED', cell: (row) => moment(row.updated_at) },
        { title: 'LAST USED', cell: (row) => moment(row.last_used_at) },
      ],
      `"${organisation.name}" has no credentials. Add one: millrace credentials add --name NAME --type TYPE`,
    );
    return { json: rows.map(presentCredential), text };
  });
}

/** `credentials update` */
export async function updateCredentialByCommand(
  id: number,
  options: CredentialInput,
): Promise<CommandResult> {
  const { name, host, field, fromFile, stdin } = options;
  if ([name, host, field, fromFile, stdin].every((each) => each === undefined)) {
    throw new UsageError(
      'nothing_to_change',
      'Say what to change: --name, --host, --field, --from-file or --stdin.',
    );
  }
  return withDatabase(async (db, config) => {
    const owner = await findOwner(db, id);
    const fields = await readGivenFields(owner.type, options);
    const keys = await openKeys(db, config);
    const row = await changeCredential(
      { db, keys },
      owner.organisation_id,
      id,
      { ...(name === undefined ? {} : { name }), ...(host === undefined ? {} : { hosts: host }), fields },
      OPERATOR,
    );
    return { json: presentCredential(row), text: show(row) };
  });
}

/** `credentials remove` */
export function removeCredentialByCommand(id: number, force: boolean): Promise<CommandResult> {
  return withDatabase(async (db) => {
    const owner = await findOwner(db, id);
    const { row, usage } = await deleteCredential(
      { db, registry },
      owner.organisation_id,
      id,
      { force },
      OPERATOR,
    );
    const { workflows, alertRules } = usage;
    const notes = [leftUsers('workflows', workflows), leftUsers('alert rules', alertRules)].join('');
    return {
      json: { ...presentCredential(row), used_by: workflows, used_by_alert_rules: alertRules },
      text: `Removed credential ${row.id}, "${row.name}".${notes}`,
    };
  });
}

function leftUsers(what: string, users: CredentialUsage['workflows']): string {
  if (users.length === 0) return '';
  return ` These ${what} still use it: ${users.map(({ id, name }) => `${id}, "${name}"`).join('; ')}.`;
}

async function openKeys(db: Database, config: Config): Promise<SecretKeys> {
  const keys = createSecretKeys(config);
  await prepareSecretKeys(db, keys, { makesKey: true });
  return keys;
}

async function findOwner(
  db: Database,
  id: number,
): Promise<{ readonly organisation_id: number; readonly type: CredentialType }> {
  const owner = await findOwnerOfCredential(db, id);
  if (owner === undefined) throw notFound('credential');
  return owner;
}

async function readHosts(
  type: CredentialType,
  given: JsonObject,
  options: CredentialInput,
): Promise<readonly string[]> {
  const isKnown = presetOf(type, given) !== undefined;
  if (options.host !== undefined || isKnown || !BOUND_TYPES.includes(type)) return options.host ?? [];
  const question = 'Which hosts may it be sent to? (such as api.example.com)';
  return readList(await textOrAsk(undefined, '--host', question, options));
}

function show(row: CredentialRow): string {
  return card([
    ['id', String(row.id)],
    ['name', row.name],
    ['type', row.type],
    ['hosts', showHosts(row)],
    ['updated', moment(row.updated_at)],
  ]);
}

/** Types with a host field show that host. */
function showHosts(row: CredentialRow): string {
  const {
    host,
    base_url: baseUrl,
    service,
  } = presentCredential(row).fields as {
    readonly [name: string]: string | null | undefined;
  };
  const shown = row.hosts.length > 0 ? row.hosts.join(' ') : (host ?? baseUrl ?? service ?? '-');
  if (!row.has_secret) return `${shown} (secret lost, enter it again)`;
  const connection = connectionOf(row);
  if (connection === null || connection.state === 'connected') return shown;
  return `${shown} (${connection.state === 'ended' ? 'connect it again' : 'not connected'})`;
}
