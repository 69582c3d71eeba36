import type { Queryable } from '@millrace/database/database';
import type { Sealed } from '@millrace/secrets/keys';

/** Stores a new secret until its first code is confirmed. Returns false if the second factor is on. */
export async function putUnconfirmedSecret(tx: Queryable, userId: number, secret: Sealed): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE users SET totp_key_id = $2, totp_ciphertext = $3, totp_last_step = NULL
     WHERE id = $1 AND totp_confirmed_at IS NULL AND removed_at IS NULL RETURNING id`,
    [userId, secret.keyId, secret.ciphertext],
  );
  return rows.length > 0;
}

/** Switches the second factor on. Returns false if it is already on. */
export async function confirmSecret(tx: Queryable, userId: number, step: number): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE users SET totp_confirmed_at = now(), totp_last_step = $2
     WHERE id = $1 AND totp_confirmed_at IS NULL AND totp_ciphertext IS NOT NULL RETURNING id`,
    [userId, step],
  );
  return rows.length > 0;
}

/** When the second factor was switched on; null if it is off. */
export async function getSecondFactorSince(db: Queryable, userId: number): Promise<Date | null> {
  const [row] = await db.query<{ since: Date | null }>(
    'SELECT totp_confirmed_at AS since FROM users WHERE id = $1',
    [userId],
  );
  return row?.since ?? null;
}

/** Uses up the code of a time step. Returns false if it, or a later one, was already used. */
export async function takeStep(db: Queryable, userId: number, step: number): Promise<boolean> {
  const rows = await db.query(
    `UPDATE users SET totp_last_step = $2
     WHERE id = $1 AND totp_confirmed_at IS NOT NULL AND (totp_last_step IS NULL OR totp_last_step < $2)
     RETURNING id`,
    [userId, step],
  );
  return rows.length > 0;
}

/** Uses up a recovery code and deletes it. Returns false if there is no such code. */
export async function takeRecoveryCode(db: Queryable, userId: number, codeHash: Buffer): Promise<boolean> {
  const rows = await db.query(
    'DELETE FROM recovery_codes WHERE user_id = $1 AND code_hash = $2 RETURNING user_id',
    [userId, codeHash],
  );
  return rows.length > 0;
}

/** Replaces all recovery codes. */
export async function replaceRecoveryCodes(
  tx: Queryable,
  userId: number,
  codeHashes: readonly Buffer[],
): Promise<void> {
  await tx.query('DELETE FROM recovery_codes WHERE user_id = $1', [userId]);
  await tx.query('INSERT INTO recovery_codes (user_id, code_hash) SELECT $1, unnest($2::bytea[])', [
    userId,
    codeHashes,
  ]);
}

/** Deletes the secret and the recovery codes. Returns false if there was none. */
export async function removeSecondFactor(tx: Queryable, userId: number): Promise<boolean> {
  await tx.query('DELETE FROM recovery_codes WHERE user_id = $1', [userId]);
  const rows = await tx.query(
    `UPDATE users SET totp_key_id = NULL, totp_ciphertext = NULL, totp_confirmed_at = NULL, totp_last_step = NULL
     WHERE id = $1 AND totp_ciphertext IS NOT NULL RETURNING id`,
    [userId],
  );
  return rows.length > 0;
}

/** A sealed secret and its owner. */
export interface SealedSecondFactor {
  readonly id: number;
  readonly email: string;
  readonly totp_ciphertext: Buffer;
}

/** Secrets under keys other than the current one, locked until the transaction ends. */
export async function lockSecretsOfOtherKeys(
  tx: Queryable,
  afterId: number,
  limit: number,
): Promise<SealedSecondFactor[]> {
  return tx.query<SealedSecondFactor>(
    `SELECT id, email, totp_ciphertext FROM users
     WHERE id > $1 AND totp_key_id <> (SELECT id FROM secret_keys WHERE state = 'current')
     ORDER BY id LIMIT $2 FOR UPDATE`,
    [afterId, limit],
  );
}

/** Replaces the ciphertext of a locked row; its plaintext is unchanged. */
export async function replaceSecret(tx: Queryable, userId: number, secret: Sealed): Promise<void> {
  await tx.query('UPDATE users SET totp_key_id = $2, totp_ciphertext = $3 WHERE id = $1', [
    userId,
    secret.keyId,
    secret.ciphertext,
  ]);
}

export async function countSecretsOfOtherKeys(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    `SELECT count(*) AS count FROM users
     WHERE totp_key_id <> (SELECT id FROM secret_keys WHERE state = 'current')`,
  );
  return row?.count ?? 0;
}

/** Accounts whose secret is encrypted with one of these keys. */
export async function listUsersOfKeys(
  db: Queryable,
  keyIds: readonly string[],
): Promise<{ readonly id: number; readonly email: string }[]> {
  return db.query('SELECT id, email FROM users WHERE totp_key_id = ANY ($1::text[]) ORDER BY id', [keyIds]);
}
