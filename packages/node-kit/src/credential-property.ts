import type { CredentialType } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { Type } from 'typebox';

/**
 * A setting that names a credential by its id; 0 is none. The editor offers those of the given types.
 * @param need whether the credential is required
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

/** The error when a credential is required but missing. */
export function noCredential(setting: string, types: readonly CredentialType[]): Message {
  return message('nodes.no_credential', { setting, types: types.join(' or ') });
}
