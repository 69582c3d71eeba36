import { ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { SecretError } from '@millrace/secrets/errors';
import type { SecretKeys } from '@millrace/secrets/keys';
import { keyIdOf } from '@millrace/secrets/sealed';
import { belongsTo } from './fields.ts';
import type { SealedRow } from './store.ts';

/**
 * The plaintext that {@link secretsText} made of a credential's secret fields. For {@link createCredentialService} and
 * re-encryption only: nothing else may see it.
 * @throws SecretError `secret_key_missing`, `secret_damaged`
 */
export async function unsealRow(keys: SecretKeys, row: SealedRow): Promise<string> {
  // The database names the key; a ciphertext that names another was tampered with, and no key is missing.
  if (row.ciphertext === null || keyIdOf(row.ciphertext) !== row.key_id) {
    throw new SecretError('secret_damaged', message('secrets.discarded'));
  }
  return keys.unseal(row.ciphertext, belongsTo(row));
}

/** What a node is told when a secret of its credential can't be decrypted. A missing key may come back. */
export function unreadable({ id, name }: Pick<SealedRow, 'id' | 'name'>, error: SecretError): ServiceError {
  const isDamaged = error.code === 'secret_damaged';
  const said = isDamaged
    ? message('ports.credential_damaged', { id, name })
    : message('ports.credential_without_key', { id, name });
  return new ServiceError('credential_unreadable', said, { retryable: !isDamaged, cause: error });
}
