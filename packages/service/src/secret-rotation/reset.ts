import { endGrantsOfKeys } from '@millrace/credentials/oauth/store';
import { dropSecretsOfKeys } from '@millrace/credentials/store';
import type { Database, Queryable } from '@millrace/database/database';
import { type AuditActor, insertAudit } from '@millrace/identity/audit/store';
import { auditUser } from '@millrace/identity/users/audit';
import { listUsersOfKeys, removeSecondFactor } from '@millrace/identity/users/second-factor-store';
import { hasKey, type SecretKeys } from '@millrace/secrets/keys';
import { listKeysInUse, lockSecretKeys } from '@millrace/secrets/store';

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
    const lostKeys = await findLostKeys(tx, keys);
    await endGrantsOfKeys(tx, lostKeys);
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
    const users = await listUsersOfKeys(tx, await findLostKeys(tx, keys));
    for (const user of users) {
      await removeSecondFactor(tx, user.id);
      await auditUser(tx, user, { action: 'user.second_factor_off', actor: 'operator' });
    }
    return users.map(({ email }) => email);
  });
}

/** Ids of the keys in use that this process lacks; locks all keys until the transaction ends. */
async function findLostKeys(tx: Queryable, keys: SecretKeys): Promise<string[]> {
  await lockSecretKeys(tx);
  const lost: string[] = [];
  for (const id of await listKeysInUse(tx)) if (!(await hasKey(keys, id))) lost.push(id);
  return lost;
}
