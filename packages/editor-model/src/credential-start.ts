import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, own } from '@millrace/engine';
import { type Schema, textsIn } from './field-shape.ts';

/** What a new credential's form is filled with. */
export interface CredentialStart {
  /** The name that is suggested; absent: nothing is known of the service. */
  readonly name?: string;
  readonly hosts: readonly string[];
  /** By the type of the credential. */
  readonly fields: { readonly [type: string]: JsonObject };
}

/**
 * What a credential that is made for a setting begins with: what the setting's schema says of its service, else the host that the request goes to.
 * @param config the settings of the node
 * @param pointer of the setting in them
 * @returns null if neither is known
 */
export function credentialStart(schema: Schema, config: JsonValue, pointer: string): CredentialStart | null {
  const around = membersAround(config, pointer);
  const known = schema['x-new-credential'];
  if (known === undefined || !isJsonObject(known)) {
    const hosts = around.flatMap(({ url }) => hostOf(url)).slice(0, 1);
    return hosts.length === 0 ? null : { hosts, fields: {} };
  }
  const { name, host, fields } = known;
  const only = typeof host === 'string' ? filledHost(host, around[0] ?? {}) : null;
  return {
    name: typeof name === 'string' ? name : '',
    // Any host at all is for people to decide.
    hosts: only === null ? textsIn(known.hosts).filter((each) => each !== '*') : [only],
    fields: filledFields(objectsIn(fields), around[0] ?? {}),
  };
}

/** The members of a value that are objects. */
function objectsIn(value: JsonValue | undefined): { readonly [name: string]: JsonObject } {
  if (value === undefined || !isJsonObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((member): member is [string, JsonObject] => isJsonObject(member[1])),
  );
}

/** The objects that a pointer leads through, innermost first. */
function membersAround(config: JsonValue, pointer: string): readonly JsonObject[] {
  const found: JsonObject[] = [];
  let value: JsonValue | undefined = config;
  for (const name of pointer.split('/').slice(1)) {
    if (value === undefined) break;
    if (isJsonObject(value)) found.unshift(value);
    const key = name.replaceAll('~1', '/').replaceAll('~0', '~');
    value = isJsonArray(value) ? value[Number(key)] : isJsonObject(value) ? value[key] : undefined;
  }
  return found;
}

/** The host in a URL, as far as it isn't a template. */
function hostOf(url: JsonValue | undefined): readonly string[] {
  const [address] = typeof url === 'string' ? (/^\s*https?:\/\/[^/?#\\]+/i.exec(url) ?? []) : [];
  if (address === undefined || address.includes('{{')) return [];
  const { hostname = '' } = URL.parse(address) ?? {};
  return hostname === '' ? [] : [hostname];
}

/** Fields with the settings in them, without those that aren't filled in with parts of a host's name. */
function filledFields(fields: CredentialStart['fields'], settings: JsonObject): CredentialStart['fields'] {
  const filledIn = (of: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(of).flatMap(([name, value]): [string, JsonValue][] => {
        if (typeof value !== 'string' || !SETTINGS.test(value)) return [[name, value ?? null]];
        const parts = [...value.matchAll(/\{\{(\w+)\}\}/g)].map(([part]) => filledHost(part, settings));
        return parts.includes(null) ? [] : [[name, value.replace(/\{\{\w+\}\}/g, () => parts.shift() ?? '')]];
      }),
    );
  return Object.fromEntries(Object.entries(fields).map(([type, of]) => [type, filledIn(of)]));
}

const SETTINGS = /\{\{\w+\}\}/;
const HOST = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/i;

/** A host with settings in it; null unless they are filled in with parts of a host's name. */
function filledHost(host: string, settings: JsonObject): string | null {
  const filled = host.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = own(settings, name);
    return typeof value === 'string' ? value.trim() : '';
  });
  return HOST.test(filled) ? filled.toLowerCase() : null;
}
