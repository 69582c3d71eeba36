import type { Credential, CredentialTypeItem, OauthPreset } from '@millrace/admin-api';
import type { CredentialStart } from '@millrace/editor-model/credential-start.ts';
import type { Schema } from '@millrace/editor-model/field-shape.ts';
import type { JsonObject, JsonValue } from '@millrace/engine';

export function propertiesOf({ schema }: CredentialTypeItem): { readonly [name: string]: Schema } {
  return (schema.properties ?? {}) as { readonly [name: string]: Schema };
}

export function isSecret(schema: Schema): boolean {
  return schema['x-secret'] === true;
}

/** Initial values of a new credential: the defaults, and empty optional secrets. */
export function initialFields(definition: CredentialTypeItem): JsonObject {
  const preset = Object.entries(propertiesOf(definition)).flatMap(([name, schema]): [string, JsonValue][] => {
    if (isSecret(schema)) return schema.minLength === 0 ? [[name, '']] : [];
    if (schema.default !== undefined && schema.default !== null) return [[name, schema.default]];
    const [first] = (schema.enum ?? []) as readonly JsonValue[];
    return first === undefined ? [] : [[name, first]];
  });
  return Object.fromEntries(preset);
}

/** The fields of a new credential: a type's defaults, and what is known of its service. */
export function startingFields(
  definition: CredentialTypeItem,
  start: CredentialStart | undefined,
  presets: readonly OauthPreset[],
): JsonObject {
  const { service, ...given } = start?.fields[definition.type] ?? {};
  const fields = initialFields(definition);
  if (definition.type !== 'oauth2') return { ...fields, ...given, ...(service ? { service } : {}) };
  // A connector of the organisation's own may name one that isn't known here.
  const preset = presets.find(({ id }) => id === service);
  if (preset === undefined) return { ...fields, ...given };
  return { ...withPreset({ ...fields, service: preset.id }, preset), ...given };
}

/** The fields as a service needs them; what it doesn't need is left out. */
export function withPreset(fields: JsonObject, preset: OauthPreset): JsonObject {
  const known = Object.entries(preset.fields as JsonObject);
  const kept = Object.entries(fields).filter(([name]) => !Object.hasOwn(preset.fields, name));
  return Object.fromEntries([...kept, ...known.filter(([, value]) => value !== null)]);
}

/** The label of the first choice in a type's fields, such as the name of the service. */
export function labelIn(definition: CredentialTypeItem, fields: JsonObject): string | null {
  for (const [name, schema] of Object.entries(propertiesOf(definition))) {
    const value = fields[name];
    const label = typeof value === 'string' ? ((schema['x-labels'] ?? {}) as JsonObject)[value] : null;
    if (typeof label === 'string') return label;
  }
  return null;
}

/** A credential as its form gives it. */
export interface GivenCredential {
  readonly name: string;
  readonly type: string;
  readonly hosts: string[];
  readonly fields: JsonObject;
}

/** Whether more than the name was changed. */
export function changesMore(before: Credential, given: GivenCredential): boolean {
  const { hosts, fields } = changedParts(before, given);
  return hosts !== undefined || Object.keys(fields).length > 0;
}

/** Only changed parts, so that two people changing different things don't overwrite each other. */
export function changedParts(
  before: Credential,
  after: Omit<GivenCredential, 'type'>,
): { name?: string; hosts?: string[]; fields: JsonObject } {
  const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  const fields = Object.fromEntries(
    Object.entries(after.fields).filter(([name, value]) => !isSame(before.settings[name], value)),
  );
  // A cleared setting is missing from the form's value; the service expects null.
  const cleared = Object.keys(before.settings).filter(
    (name) => before.settings[name] !== null && !Object.hasOwn(after.fields, name),
  );
  return {
    ...(before.name === after.name ? {} : { name: after.name }),
    ...(isSame(before.hosts, after.hosts) ? {} : { hosts: after.hosts }),
    fields: { ...fields, ...Object.fromEntries(cleared.map((name) => [name, null])) },
  };
}
