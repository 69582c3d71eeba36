import type { Database, Queryable } from '@millrace/database/database';
import {
  CREDENTIAL_TYPES,
  type CredentialType,
  type JsonObject,
  type NodeRegistry,
  parseJson,
  stringifyJson,
} from '@millrace/engine';
import { ApiError, type FieldError, notFound, validationError } from '@millrace/errors/errors';
import { type AuditAction, type AuditActor, insertAudit } from '@millrace/identity/audit/store';
import { findNameProblem } from '@millrace/identity/values/names';
import { type Message, message } from '@millrace/messages';
import { SecretError } from '@millrace/secrets/errors';
import type { SecretKeys } from '@millrace/secrets/keys';
import { belongsTo, checkFields, checkHosts, joinFields, secretsText, splitFields } from './fields.ts';
import { presetOf } from './oauth/presets.ts';
import { removeGrant } from './oauth/store.ts';
import { type CredentialUsage, type CredentialUser, findUsage, isUnused } from './references.ts';
import { fieldsOf, isSecretField } from './schema.ts';
import {
  type CredentialRow,
  type CredentialWrite,
  findCredential,
  insertCredential,
  isNameTaken,
  lockCredential,
  nextCredentialId,
  removeCredential,
  type SealedRow,
  updateCredential,
} from './store.ts';
import { unsealRow } from './unseal.ts';

/** What managing credentials needs. */
export interface CredentialDeps {
  readonly db: Database;
  readonly keys: SecretKeys;
}

export interface NewCredential {
  readonly organisationId: number;
  /** Unique in the organisation. */
  readonly name: string;
  /** One of {@link CREDENTIAL_TYPES}. */
  readonly type: string;
  readonly hosts: readonly string[];
  /** As defined by the type's schema. */
  readonly fields: JsonObject;
}

/** Whatever is omitted stays unchanged, including single fields. */
export interface CredentialChange {
  readonly name?: string;
  readonly hosts?: readonly string[];
  readonly fields?: JsonObject;
}

/**
 * Stores a credential and records it.
 * @throws ApiError 422 with a pointer per error; values are never repeated
 * @throws SecretError if there is no key to encrypt with
 */
export async function addCredential(
  { db, keys }: CredentialDeps,
  given: NewCredential,
  by: AuditActor,
): Promise<CredentialRow> {
  const type = checkType(given.type);
  const name = readName(given.name);
  const preset = presetOf(type, given.fields);
  const { hosts, errors: hostErrors } = checkHosts(
    type,
    given.hosts.length === 0 && preset !== undefined ? preset.hosts : given.hosts,
  );
  const { fields, errors: fieldErrors } = checkFields(type, given.fields);
  refuse([...name.errors, ...hostErrors, ...fieldErrors]);
  const { settings, secrets } = splitFields(type, fields);
  const { organisationId } = given;
  return db.forOrganisation(organisationId, async (tx) => {
    const id = await nextCredentialId(tx);
    const record = { id, organisation_id: organisationId, type, hosts, settings: stringifyJson(settings) };
    const sealed = await sealSecrets(tx, keys, secrets, record);
    const createdBy = by.actor === 'member' || by.actor === 'user' ? by.memberId : null;
    const isStored = await insertCredential(tx, {
      ...{ id, organisationId, type, hosts, createdBy, sealed },
      name: name.text,
      settings: record.settings,
    });
    if (!isStored) refuse([nameTaken()]);
    return audited(tx, organisationId, id, 'credential.created', by);
  });
}

/**
 * Changes a credential and records it. Omitted secret fields keep their value, unless the change sends the credential
 * elsewhere: then they have to be entered again, because someone who may change a credential must not learn it.
 * @throws ApiError `not_found`, 422
 * @throws SecretError if it can't be decrypted and its secret fields are missing
 */
export async function changeCredential(
  { db, keys }: CredentialDeps,
  organisationId: number,
  id: number,
  change: CredentialChange,
  by: AuditActor,
): Promise<CredentialRow> {
  return db.forOrganisation(organisationId, async (tx) => {
    const row = await requireLocked(tx, organisationId, id);
    const name = readName(change.name ?? row.name);
    const { hosts, errors } =
      change.hosts === undefined ? { ...row, errors: [] } : checkHosts(row.type, change.hosts);
    refuse([...name.errors, ...errors]);
    if (await isNameTaken(tx, organisationId, name.text, id)) refuse([nameTaken()]);
    const content = await mergeContent(keys, row, hosts, change);
    const sealed =
      content === null
        ? null
        : await sealSecrets(tx, keys, content.secrets, { ...row, hosts, settings: content.settings });
    const settings = content?.settings ?? row.settings;
    const isStored = await updateCredential(tx, id, { name: name.text, hosts, settings, sealed });
    if (!isStored) refuse([nameTaken()]);
    if (content !== null && outdatesTokens(row, hosts, content.settings, change)) await removeGrant(tx, id);
    const details = { changed: changedParts(change) };
    return audited(tx, organisationId, id, 'credential.updated', by, details);
  });
}

/**
 * Permanently deletes a credential and records it.
 * @param options.force even if workflows name it; their nodes then fail with `credential_not_found`
 * @returns the credential as it was, and the workflows that name it
 * @throws ApiError `not_found`, `credential_in_use` naming what uses it
 */
export async function deleteCredential(
  { db, registry }: { readonly db: Database; readonly registry: NodeRegistry },
  organisationId: number,
  id: number,
  options: { readonly force: boolean },
  by: AuditActor,
): Promise<{ readonly row: CredentialRow; readonly usage: CredentialUsage }> {
  return db.forOrganisation(organisationId, async (tx) => {
    await requireLocked(tx, organisationId, id);
    const usage = await findUsage(tx, organisationId, id, registry);
    if (!isUnused(usage) && !options.force) throw inUse(usage);
    const details = {
      used_by: usage.workflows.map((workflow) => workflow.id),
      ...(usage.alertRules.length === 0
        ? {}
        : { used_by_alert_rules: usage.alertRules.map((rule) => rule.id) }),
    };
    const row = await audited(tx, organisationId, id, 'credential.deleted', by, details);
    await removeCredential(tx, id);
    return { row, usage };
  });
}

/** The encrypted secrets, and which of them have a value, so that the page can show what was never entered. */
async function sealSecrets(
  tx: Queryable,
  keys: SecretKeys,
  secrets: JsonObject,
  record: Parameters<typeof belongsTo>[0],
): Promise<NonNullable<CredentialWrite['sealed']>> {
  const sealed = await keys.seal(tx, secretsText(secrets), belongsTo(record));
  return { ...sealed, names: namesOfValues(secrets) };
}

function namesOfValues(secrets: JsonObject): string[] {
  return Object.keys(secrets).filter((name) => secrets[name] !== null && secrets[name] !== '');
}

/** The parts to encrypt again; null if only the name changes. */
async function mergeContent(
  keys: SecretKeys,
  row: SealedRow,
  hosts: readonly string[],
  { fields: given = {}, hosts: givenHosts }: CredentialChange,
): Promise<{ readonly settings: string; readonly secrets: JsonObject } | null> {
  if (Object.keys(given).length === 0 && givenHosts === undefined) return null;
  const settings = parseJson(row.settings) as JsonObject;
  const stored = await storedSecrets(keys, row, given);
  const { fields, errors } = checkFields(row.type, { ...settings, ...stored, ...given });
  refuse(errors);
  const merged = splitFields(row.type, fields);
  if (goesElsewhere(row.hosts, hosts, settings, merged.settings)) refuse(secretsToRepeat(stored, given));
  return { settings: stringifyJson(merged.settings), secrets: merged.secrets };
}

/** Secrets that can't be decrypted any more can be entered again. */
async function storedSecrets(keys: SecretKeys, row: SealedRow, given: JsonObject): Promise<JsonObject> {
  try {
    return parseJson(await unsealRow(keys, row)) as JsonObject;
  } catch (error) {
    const isEnteredAnew = fieldsOf(row.type).some(
      (field) => isSecretField(field) && Object.hasOwn(given, field[0]),
    );
    if (error instanceof SecretError && isEnteredAnew) return {};
    throw error;
  }
}

/** Settings that determine where a secret goes and how well it is protected in transit. */
const DIRECTING = [
  ...['host', 'port', 'base_url', 'service', 'provider', 'dialect', 'security', 'tls'],
  ...['authorization_url', 'token_url', 'authority'],
];

/** Whether tokens that were fetched before a change aren't those of the changed credential. */
function outdatesTokens(
  row: SealedRow,
  hosts: readonly string[],
  settings: string,
  { fields = {} }: CredentialChange,
): boolean {
  // A field that was added to the type since is no change.
  const before = splitFields(row.type, joinFields(row.type, row.settings, '{}')).settings;
  if (settings !== stringifyJson(before) || hosts.some((host) => !row.hosts.includes(host))) return true;
  // What a person has approved outlives the client's secret, which providers want to be changed now and then.
  const isApproved = (parseJson(settings) as JsonObject).grant === 'authorization_code';
  return !isApproved && Object.keys(fields).length > 0;
}

function goesElsewhere(
  hostsBefore: readonly string[],
  hosts: readonly string[],
  before: JsonObject,
  settings: JsonObject,
): boolean {
  return (
    hosts.some((host) => !hostsBefore.includes(host)) ||
    DIRECTING.some((name) => (before[name] ?? null) !== (settings[name] ?? null))
  );
}

function secretsToRepeat(stored: JsonObject, given: JsonObject): FieldError[] {
  return namesOfValues(stored)
    .filter((name) => !Object.hasOwn(given, name))
    .map((name) => ({
      pointer: `/fields/${name}`,
      code: 'missing_field',
      message: message('service.credential_repeat_secret'),
    }));
}

async function requireLocked(tx: Queryable, organisationId: number, id: number): Promise<SealedRow> {
  const row = await lockCredential(tx, organisationId, id);
  if (row === undefined) throw notFound('credential');
  return row;
}

async function audited(
  tx: Queryable,
  organisationId: number,
  id: number,
  action: AuditAction,
  by: AuditActor,
  details: JsonObject = {},
): Promise<CredentialRow> {
  const row = await findCredential(tx, organisationId, id);
  if (row === undefined) throw new Error(`credential ${id} is gone although this transaction holds it`);
  const { name, type, hosts } = row;
  await insertAudit(tx, {
    organisationId,
    action,
    by,
    details: { credential_id: id, name, type, hosts: [...hosts], ...details },
  });
  return row;
}

/** Names only: values may be secrets. */
function changedParts({ name, hosts, fields = {} }: CredentialChange): string[] {
  return [
    ...(name === undefined ? [] : ['name']),
    ...(hosts === undefined ? [] : ['hosts']),
    ...Object.keys(fields).map((field) => `fields.${field}`),
  ];
}

function checkType(text: string): CredentialType {
  const type = CREDENTIAL_TYPES.find((each) => each === text);
  if (type !== undefined) return type;
  const unknown = message('service.credential_type_unknown', { known: CREDENTIAL_TYPES.join(', ') });
  throw validationError([{ pointer: '/type', code: 'invalid_value', message: unknown }]);
}

function readName(given: string): { readonly text: string; readonly errors: readonly FieldError[] } {
  const text = given.trim();
  const problem = findNameProblem(text);
  return { text, errors: problem === null ? [] : [{ pointer: '/name', ...problem }] };
}

function nameTaken(): FieldError {
  return { pointer: '/name', code: 'name_taken', message: message('service.credential_name_taken') };
}

function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw validationError(errors);
}

function inUse({ workflows, alertRules }: CredentialUsage): ApiError {
  const byWorkflows = workflows.length === 0 ? null : usedByWorkflows(workflows);
  if (alertRules.length === 0 && byWorkflows !== null) return new ApiError('credential_in_use', byWorkflows);
  const { shown, more } = firstNames(alertRules);
  const rules = more === 0 ? shown : message('service.names_and_more', { names: shown, more });
  return new ApiError(
    'credential_in_use',
    byWorkflows === null
      ? message('service.credential_in_use_by_alert_rules', { rules })
      : message('service.credential_in_use_by_alert_rules_too', { workflows: byWorkflows, rules }),
  );
}

function usedByWorkflows(workflows: readonly CredentialUser[]): Message {
  const { shown, more } = firstNames(workflows);
  return more === 0
    ? message('service.credential_in_use', { workflows: shown })
    : message('service.credential_in_use_by_more', { workflows: shown, more });
}

function firstNames(users: readonly CredentialUser[]): { readonly shown: string; readonly more: number } {
  const shown = users.slice(0, 10).map(({ id, name }) => `${id} (${JSON.stringify(name)})`);
  return { shown: shown.join(', '), more: users.length - shown.length };
}
