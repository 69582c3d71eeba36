import { addCredential } from '@millrace/credentials/credentials';
import { createSecretKeys } from '@millrace/secrets/keys';
import type { TestService } from './service.ts';

/** Stores a credential of an organisation for a model server. @returns its id */
export async function addModelCredential(
  { deps }: Pick<TestService, 'deps'>,
  organisationId: number,
  fields: { readonly provider: string; readonly base_url: string; readonly api_key: string },
): Promise<number> {
  const { id } = await addCredential(
    { db: deps.db, keys: createSecretKeys(deps.config) },
    { organisationId, name: 'model', type: 'ai', hosts: [], fields },
    { actor: 'operator' },
  );
  return id;
}
