import {
  type Credential,
  type CredentialType,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  parseJson,
  stringifyJson,
  validateValue,
} from '@millrace/engine';
import type { FieldError } from '@millrace/errors/errors';
import { type Message, message } from '@millrace/messages';
import { normaliseBoundHost } from './hosts.ts';
import { checkMeaning } from './meaning.ts';
import { withPreset } from './oauth/presets.ts';
import { BOUND_TYPES, credentialSchemas, fieldsOf, isSecretField } from './schema.ts';

/** A credential's fields in two parts: those that are shown, and those stored only in encrypted form. */
export interface SplitFields {
  readonly settings: JsonObject;
  readonly secrets: JsonObject;
}

/**
 * Checks all fields of a credential and fills in defaults.
 * @returns the errors, with pointers below `/fields`; values are not repeated
 */
export function checkFields(
  type: CredentialType,
  given: JsonObject,
): { readonly fields: JsonObject; readonly errors: readonly FieldError[] } {
  const known = withPreset(type, given);
  const missing = fieldsOf(type)
    .filter(([name]) => !Object.hasOwn(known, name))
    .map(([name, schema]) => [name, usualValue(type, name, given) ?? (schema.default as JsonValue)])
    .filter(([, value]) => value !== undefined);
  const fields: JsonObject = { ...known, ...Object.fromEntries(missing) };
  const schema: object = credentialSchemas[type];
  const faults = validateValue(schema as JsonSchema, fields).map(({ pointer, keyword, message }) => ({
    pointer: `/fields${pointer}`,
    code: keyword === 'required' ? 'missing_field' : 'invalid_value',
    message,
  }));
  return { fields, errors: faults.length > 0 ? faults : checkMeaning(type, fields) };
}

const DATABASE_PORTS: JsonObject = { mysql: 3306, sqlserver: 1433, mongodb: 27_017 };

/** What a kind of server has, if it differs from the schema's default. */
function usualValue(type: CredentialType, field: string, given: JsonObject): JsonValue {
  if (field !== 'port') return null;
  if (type === 'sql')
    return typeof given.dialect === 'string' ? (DATABASE_PORTS[given.dialect] ?? null) : null;
  if (type === 'imap' && given.security !== undefined && given.security !== 'tls') return 143;
  if (type === 'mqtt' && given.tls === 'off') return 1883;
  return type === 'smtp' && given.security === 'tls' ? 465 : null;
}

/** Checks the hosts a credential may be sent to and normalises their spelling. */
export function checkHosts(
  type: CredentialType,
  given: readonly string[],
): { readonly hosts: readonly string[]; readonly errors: readonly FieldError[] } {
  const fault = (pointer: string, said: Message) => ({ pointer, code: 'invalid_value', message: said });
  if (!BOUND_TYPES.includes(type)) {
    const unbound =
      type === 'secret'
        ? message('service.credential_hosts_of_secret')
        : message('service.credential_hosts_of_fields', { type });
    return { hosts: [], errors: given.length === 0 ? [] : [fault('/hosts', unbound)] };
  }
  if (given.length === 0 || given.length > 50) {
    return { hosts: [], errors: [fault('/hosts', message('service.credential_hosts_count'))] };
  }
  const normal = given.map(normaliseBoundHost);
  const errors = normal.flatMap((host, index) =>
    host === undefined ? [fault(`/hosts/${index}`, message('service.credential_host_malformed'))] : [],
  );
  return { hosts: [...new Set(normal.filter((host) => host !== undefined))].sort(), errors };
}

export function splitFields(type: CredentialType, fields: JsonObject): SplitFields {
  const pick = (wantsSecret: boolean): JsonObject =>
    Object.fromEntries(
      fieldsOf(type)
        .filter((field) => isSecretField(field) === wantsSecret)
        .map(([name]) => [name, fields[name] ?? null]),
    );
  return { settings: pick(false), secrets: pick(true) };
}

/** The plaintext to encrypt. */
export function secretsText(secrets: JsonObject): string {
  return stringifyJson(secrets);
}

/** Joins the two parts of a stored credential. Fields that were added to its type since have their default. */
export function joinFields(type: CredentialType, settings: string, secrets: string): Credential {
  const usual = fieldsOf(type).map(([name, { default: value = null }]) => [name, value] as const);
  return {
    ...Object.fromEntries(usual),
    ...(parseJson(settings) as JsonObject),
    ...(parseJson(secrets) as JsonObject),
    type,
  } as Credential;
}

/**
 * The context a ciphertext is bound to. Moved to another record or organisation, or combined with other hosts or settings,
 * it doesn't decrypt: write access to the database isn't enough to send a secret elsewhere.
 */
export function belongsTo(record: {
  readonly id: number;
  readonly organisation_id: number;
  readonly type: string;
  readonly hosts: readonly string[];
  /** JSON text as stored. */
  readonly settings: string;
}): string {
  const { id, organisation_id: organisationId, type, hosts, settings } = record;
  return JSON.stringify(['credential', organisationId, id, type, hosts, settings]);
}
