import type { SecretKeys } from '@millrace/secrets/keys';
import type { SealedRecords } from '@millrace/secrets/reencrypt';
import { belongsTo } from './fields.ts';
import { type LockedGrant, lockGrantsOfOtherKeys, replaceGrant } from './oauth/store.ts';
import { grantOf } from './oauth/tokens.ts';
import { lockCredentialsOfOtherKeys, replaceCiphertexts, type SealedRow } from './store.ts';
import { unsealRow } from './unseal.ts';

/** The secret fields of credentials. */
export function sealedCredentials(keys: SecretKeys): SealedRecords<SealedRow> {
  return {
    lock: lockCredentialsOfOtherKeys,
    unseal: (row) => unsealRow(keys, row),
    belongsTo,
    replace: replaceCiphertexts,
  };
}

/** The tokens of credentials, by the ids of these. */
export function sealedGrants(keys: SecretKeys): SealedRecords<LockedGrant> {
  return {
    lock: lockGrantsOfOtherKeys,
    unseal: (row) => keys.unseal(row.ciphertext, grantOf(row)),
    belongsTo: grantOf,
    async replace(tx, rows) {
      for (const row of rows) await replaceGrant(tx, row.id, row);
    },
  };
}
