import type { CredentialType } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { Type } from 'typebox';

/**
 * A setting that names a credential by its id; 0 is none. The editor offers those of the types given.
 * @param need whether the node can do without
 */
export function credentialProperty(
  types: readonly CredentialType[],
  title: string,
  description: string,
  need: 'needed' | 'optional' = 'needed',
) {
  const marks = { 'x-credential': types, ...(need === 'needed' ? { 'x-filled': true } : {}) };
  return Type.Integer({ title, description, minimum: 0, default: 0, ...marks });
}

/** What to tell when a credential is needed and none is named. */
export function noCredential(setting: string, types: readonly CredentialType[]): Message {
  return message('nodes.no_credential', { setting, types: types.join(' or ') });
}
