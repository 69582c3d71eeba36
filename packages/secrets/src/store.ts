import type { Queryable } from '@millrace/database/database';
import { hasTable } from '@millrace/database/migrate';

export type SecretKeyState = 'current' | 'retiring' | 'retired';

export interface SecretKeyRow {
  readonly id: string;
  readonly state: SecretKeyState;
}

/** Every key in the database, latest first. */
export async function listSecretKeys(db: Queryable): Promise<SecretKeyRow[]> {
  return db.query<SecretKeyRow>('SELECT id, state FROM secret_keys ORDER BY created_at DESC, id');
}

/** Locks the current key until the transaction ends: a rotation waits. Undefined: there is none, or it has just changed. */
export async function lockCurrentKey(db: Queryable): Promise<string | undefined> {
  const [row] = await db.query<{ id: string }>(
    `SELECT id FROM secret_keys WHERE state = 'current' FOR SHARE`,
  );
  return row?.id;
}

/** Prevents others from adding, changing or removing keys until the transaction ends. */
export async function lockSecretKeys(db: Queryable): Promise<void> {
  await db.query('LOCK TABLE secret_keys IN SHARE ROW EXCLUSIVE MODE');
}

/** Retires the current key; waits for transactions that are encrypting with it. */
export async function endCurrentKey(db: Queryable, state: 'retiring' | 'retired'): Promise<void> {
  await db.query(
    `UPDATE secret_keys SET state = $1::text, retired_at = CASE WHEN $1 = 'retired' THEN now() END WHERE state = 'current'`,
    [state],
  );
}

/** Makes this key the current one. There must not be another. */
export async function putCurrentKey(db: Queryable, id: string): Promise<void> {
  await db.query(
    `INSERT INTO secret_keys (id, state) VALUES ($1, 'current')
     ON CONFLICT (id) DO UPDATE SET state = 'current', retired_at = NULL, created_at = now()`,
    [id],
  );
}

/** Retires the keys that were being replaced and returns their ids. */
export async function retireReplacedKeys(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `UPDATE secret_keys SET state = 'retired', retired_at = now() WHERE state = 'retiring' RETURNING id`,
  );
  return rows.map((row) => row.id);
}

/** Ids of the keys needed by stored credentials, their tokens and second factors. */
export async function listKeysInUse(db: Queryable): Promise<string[]> {
  // A backup may be of a schema that doesn't have tokens yet.
  const ofTokens = (await hasTable(db, 'credential_grants'))
    ? await db.query<{ key_id: string }>(
        'SELECT DISTINCT key_id FROM credential_grants WHERE key_id IS NOT NULL',
      )
    : [];
  const rows = await db.query<{ key_id: string }>(
    `SELECT key_id FROM credentials WHERE key_id IS NOT NULL
     UNION SELECT totp_key_id FROM users WHERE totp_key_id IS NOT NULL ORDER BY key_id`,
  );
  return [...new Set([...rows, ...ofTokens].map((row) => row.key_id))].sort();
}
