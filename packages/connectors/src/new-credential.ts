import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '@millrace/engine';
import type { NewCredential } from '@millrace/node-kit/credential-property';
import { servicesOf } from './connectors.ts';
import { newCredentialOf } from './node-type.ts';

/** A node that will get the credential. Its settings may be variables: `{{vars.shop}}`. */
interface User {
  readonly type: string;
  readonly config: JsonObject;
}

const VARIABLE = /^\{\{vars\.(\w+)\}\}$/;

/**
 * What a new credential for several nodes begins with: what their services say, as far as they agree. Settings in the host are named by the
 * variables that fill them in.
 * @returns null if none of them is of a connector
 */
export function newCredentialFor(users: readonly User[]): NewCredential | null {
  const starts = servicesOf(users.map(({ type }) => type)).map(newCredentialOf);
  const [first, ...others] = starts;
  if (first === undefined) return null;
  const host = others.length === 0 && first.host !== undefined ? hostByVariables(first.host, users) : null;
  const agreed = Object.entries(first.fields).filter(([type, fields]) =>
    others.every((other) => isDeepStrictEqual(other.fields[type], fields)),
  );
  return {
    name: starts.map(({ name }) => name).join(', '),
    hosts: [...new Set(starts.flatMap(({ hosts }) => hosts))],
    ...(host === null ? {} : { host }),
    fields: Object.fromEntries(agreed),
  };
}

/** A host whose settings are variables of the workflow; null if one isn't. */
function hostByVariables(host: string, users: readonly User[]): string | null {
  const variableOf = (setting: string) =>
    users.flatMap(({ config: { [setting]: value } }) =>
      typeof value === 'string' ? (VARIABLE.exec(value)?.[1] ?? []) : [],
    )[0];
  const settings = [...host.matchAll(/\{\{(\w+)\}\}/g)].map(([, setting = '']) => setting);
  if (settings.some((setting) => variableOf(setting) === undefined)) return null;
  return host.replace(/\{\{(\w+)\}\}/g, (_, setting: string) => `{{${variableOf(setting)}}}`);
}
