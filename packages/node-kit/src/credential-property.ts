import type { CredentialType, JsonObject } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { Type } from 'typebox';

/** What a credential that is made for a node begins with. */
export interface NewCredential {
  /** The name that is suggested. */
  readonly name: string;
  /** Hosts that it may be sent to. */
  readonly hosts: readonly string[];
  /** The only host, with settings of the node in it: `{{site}}.example.com`. It counts once they are filled in. */
  readonly host?: string;
  /** Fields by the type of the credential. One with settings in it, like `host`, counts once they are filled in. */
  readonly fields: { readonly [type: string]: JsonObject };
}

/**
 * A setting that names a credential by its id; 0 is none. The editor offers those of the given types.
 * @param need whether the credential is required
 * @param start what a new one begins with
 */
export function credentialProperty(
  types: readonly CredentialType[],
  title: string,
  description: string,
  need: 'needed' | 'optional' = 'needed',
  start?: NewCredential,
) {
  const marks = {
    'x-credential': types,
    ...(start === undefined ? {} : { 'x-new-credential': start }),
    ...(need === 'needed' ? { 'x-filled': true } : {}),
  };
  return Type.Integer({ title, description, minimum: 0, default: 0, ...marks });
}

/** The error when a credential is required but missing. */
export function noCredential(setting: string, types: readonly CredentialType[]): Message {
  return message('nodes.no_credential', { setting, types: types.join(' or ') });
}
