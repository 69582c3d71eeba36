import { belongsTo } from '@millrace/credentials/fields';
import { grantOf } from '@millrace/credentials/oauth/tokens';
import type { Queryable } from '@millrace/database/database';
import { secondFactorOf } from '@millrace/identity/users/second-factor';
import { SecretError } from '@millrace/secrets/errors';
import type { SecretKeys } from '@millrace/secrets/keys';
import { keyIdOf, type MasterKey, unseal } from '@millrace/secrets/sealed';
import { BackupError } from './errors.ts';
import type { Shifts } from './moved-rows.ts';

/** The keys of the instance, and those that the secrets of a backup may be encrypted with besides. */
export interface MovingKeys {
  readonly own: SecretKeys;
  readonly given: readonly MasterKey[];
}

/** A moved row with a ciphertext, bound to its record as it was and as it is now. */
interface Moved {
  readonly id: number;
  readonly ciphertext: Buffer;
  readonly was: string;
  readonly is: string;
}

interface CredentialRow {
  readonly id: number;
  readonly organisation_id: number;
  readonly type: string;
  readonly hosts: readonly string[];
  readonly settings: string;
  readonly ciphertext: Buffer;
}

/**
 * Encrypts the secrets in the moved tables with the key of this instance, bound to what they belong to here. The rows have their new
 * ids.
 * @param formerOrganisationId the organisation's id where it comes from
 * @param ids the former ids of accounts by those here, and what was added to others
 * @throws BackupError `restore_key`
 */
export async function resealMoved(
  tx: Queryable,
  keys: MovingKeys,
  formerOrganisationId: number,
  ids: { readonly former: ReadonlyMap<number, number>; readonly shifts: Shifts },
): Promise<void> {
  const formerOf = <Row extends { readonly id: number }>(row: Row) => ({
    ...row,
    id: row.id - (ids.shifts.get('credentials') ?? 0),
    organisation_id: formerOrganisationId,
  });
  const credentials = await tx.query<CredentialRow>(
    `SELECT id, organisation_id, type, hosts, settings::text AS settings, ciphertext FROM moved_credentials
     WHERE ciphertext IS NOT NULL`,
  );
  const grants = await tx.query<{ id: number; organisation_id: number; ciphertext: Buffer }>(
    `SELECT credential_id AS id, organisation_id, ciphertext FROM moved_credential_grants WHERE ciphertext IS NOT NULL`,
  );
  const factors = await tx.query<{ id: number; ciphertext: Buffer }>(
    `SELECT id, totp_ciphertext AS ciphertext FROM moved_users WHERE totp_ciphertext IS NOT NULL`,
  );
  const sealed = async (rows: readonly Moved[]) => {
    const done = [];
    for (const row of rows) {
      const text = await unsealMoved(keys, row);
      done.push({ id: row.id, ...(await keys.own.seal(tx, text, row.is)) });
    }
    return [
      done.map(({ id }) => id),
      done.map(({ keyId }) => keyId),
      done.map(({ ciphertext }) => ciphertext),
    ];
  };
  await tx.query(
    `UPDATE moved_credentials c SET key_id = n.key_id, ciphertext = n.ciphertext
     FROM unnest($1::bigint[], $2::text[], $3::bytea[]) AS n (id, key_id, ciphertext) WHERE c.id = n.id`,
    await sealed(credentials.map((row) => ({ ...row, was: belongsTo(formerOf(row)), is: belongsTo(row) }))),
  );
  await tx.query(
    `UPDATE moved_credential_grants g SET key_id = n.key_id, ciphertext = n.ciphertext
     FROM unnest($1::bigint[], $2::text[], $3::bytea[]) AS n (id, key_id, ciphertext) WHERE g.credential_id = n.id`,
    await sealed(grants.map((row) => ({ ...row, was: grantOf(formerOf(row)), is: grantOf(row) }))),
  );
  await tx.query(
    `UPDATE moved_users u SET totp_key_id = n.key_id, totp_ciphertext = n.ciphertext
     FROM unnest($1::bigint[], $2::text[], $3::bytea[]) AS n (id, key_id, ciphertext) WHERE u.id = n.id`,
    await sealed(
      factors.map((row) => ({
        ...row,
        was: secondFactorOf(ids.former.get(row.id) ?? row.id),
        is: secondFactorOf(row.id),
      })),
    ),
  );
}

/** Before anything is loaded. @throws BackupError `restore_key` */
export async function requireKeys(keys: MovingKeys, ids: readonly string[]): Promise<void> {
  for (const id of ids) await findKey(keys, id);
}

async function findKey({ own, given }: MovingKeys, id: string): Promise<MasterKey> {
  return given.find((key) => key.id === id) ?? (await own.find(id).catch(missing(id)));
}

async function unsealMoved(keys: MovingKeys, { ciphertext, was }: Moved): Promise<string> {
  return unseal(await findKey(keys, keyIdOf(ciphertext)), ciphertext, was);
}

function missing(id: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof SecretError) || error.code !== 'secret_key_missing') throw error;
    throw new BackupError(
      'restore_key',
      `The secrets of the organisation are encrypted with the key ${id}, which this instance doesn't have. Give the key file of the instance it comes from with --key-file, or back up with --include-key. Nothing was restored.`,
    );
  };
}
