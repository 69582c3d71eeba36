import type { SecretKeys } from '@millrace/secrets/keys';
import type { SealedRecords } from '@millrace/secrets/reencrypt';
import { secondFactorOf } from './second-factor.ts';
import { lockSecretsOfOtherKeys, replaceSecret, type SealedSecondFactor } from './second-factor-store.ts';

/** The secrets of second factors, by the ids of their users. */
export function sealedSecondFactors(keys: SecretKeys): SealedRecords<SealedSecondFactor> {
  return {
    lock: lockSecretsOfOtherKeys,
    unseal: (row) => keys.unseal(row.totp_ciphertext, secondFactorOf(row.id)),
    belongsTo: (row) => secondFactorOf(row.id),
    async replace(tx, rows) {
      for (const row of rows) await replaceSecret(tx, row.id, row);
    },
  };
}
