import type { Database } from '@millrace/database/database';
import { type AuditActor, insertAudit } from '@millrace/identity/audit/store';
import { auditUser } from '@millrace/identity/users/audit';
import { listUsersOfKeys, removeSecondFactor } from '@millrace/identity/users/second-factor-store';
import { SecretError } from '@millrace/secrets/errors';
import type { SecretKeys } from '@millrace/secrets/keys';
import { listKeysInUse, lockSecretKeys } from '@millrace/secrets/store';
import { dropSecretsOfKeys } from '../credentials/store.ts';

/** A credential that has lost its secret. */
export interface LostSecret {
  readonly id: number;
  readonly organisation_id: number;
  readonly name: string;
}

/**
 * Permanently discards every secret whose key this process doesn't have, and records it. The credentials keep their ids, so
 * that workflows find them once their secrets are entered again.
 */
export async function discardLostSecrets(
  db: Database,
  keys: SecretKeys,
  by: AuditActor,
): Promise<readonly LostSecret[]> {
  return db.transaction(async (tx) => {
    await lockSecretKeys(tx);
    const lostKeys: string[] = [];
    for (const id of await listKeysInUse(tx)) if (await isLost(keys, id)) lostKeys.push(id);
    const lost = await dropSecretsOfKeys(tx, lostKeys);
    for (const { id, organisation_id: organisationId, name } of lost) {
      const details = { credential_id: id, name };
      await insertAudit(tx, { organisationId, action: 'credential.secret_given_up', by, details });
    }
    return lost;
  });
}

/**
 * Permanently switches off every second factor whose secret can't be decrypted any more, and records it: nobody could sign
 * in with it. Returns the e-mail addresses.
 */
export async function discardLostSecondFactors(db: Database, keys: SecretKeys): Promise<readonly string[]> {
  return db.transaction(async (tx) => {
    await lockSecretKeys(tx);
    const lostKeys: string[] = [];
    for (const id of await listKeysInUse(tx)) if (await isLost(keys, id)) lostKeys.push(id);
    const users = await listUsersOfKeys(tx, lostKeys);
    for (const user of users) {
      await removeSecondFactor(tx, user.id);
      await auditUser(tx, user, { action: 'user.second_factor_off', actor: 'operator' });
    }
    return users.map(({ email }) => email);
  });
}

async function isLost(keys: SecretKeys, id: string): Promise<boolean> {
  try {
    await keys.find(id);
    return false;
  } catch (error) {
    if (error instanceof SecretError && error.code === 'secret_key_missing') return true;
    throw error;
  }
}
