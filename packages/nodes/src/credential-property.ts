import type { CredentialType } from '@millrace/engine';
import { Type } from 'typebox';

/** A setting that names a credential by its id; 0 is none. The editor offers those of the types given. */
export function credentialProperty(types: readonly CredentialType[], title: string, description: string) {
  return Type.Integer({ title, description, minimum: 0, default: 0, 'x-credential': types });
}

/** What to tell when a credential is needed and none is named. */
export function noCredential(setting: string, types: readonly CredentialType[]): string {
  return `config.${setting} names no credential. Make one of the type ${types.join(' or ')} and give its id.`;
}
