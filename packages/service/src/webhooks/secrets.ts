import { type CredentialServiceDeps, createCredentialService } from '@millrace/credentials/service';

/** The value of a credential of type `secret`. @throws ServiceError if there is no usable one */
export type OpenSecret = (organisationId: number, credentialId: number) => Promise<string>;

/** Opens the secrets that webhooks check signatures with; each call reads the credential, so a change applies at once. */
export function createSecretOpener(deps: CredentialServiceDeps): OpenSecret {
  const credentialsOf = createCredentialService(deps);
  return async (organisationId, credentialId) => {
    // No output could contain the secret.
    const caller = { organisationId, onSecret: () => {} };
    const { value } = await credentialsOf(caller).open(credentialId, { types: ['secret'] });
    return value;
  };
}
