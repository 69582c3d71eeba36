import { createHash, createHmac, hkdfSync } from 'node:crypto';
import type { Queryable } from '@millrace/database/database';
import { SecretError } from '@millrace/secrets/errors';
import type { SecretKeys } from '@millrace/secrets/keys';

export type CallbackKind = 'callback' | 'approval';

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Makes the tokens of one-time URLs: the same for every attempt of a node. */
export type MakeToken = (kind: CallbackKind, idempotencyKey: string) => Promise<string>;

/**
 * HMAC-SHA-256 under a secret that all processes share. It combines a secret in the database with the credential encryption
 * key, which is kept outside it: a copy of the tables isn't enough to make a token. A service without such a key uses the
 * database's secret alone.
 */
export function createTokenMaker(db: Queryable, keys: Pick<SecretKeys, 'find'>): MakeToken {
  return async (kind, idempotencyKey) =>
    createHmac('sha256', await loadSecret(db, keys))
      .update(JSON.stringify([kind, idempotencyKey]))
      .digest('base64url');
}

/** The stored form of a token; null for a string that can't be one. */
export function hashToken(token: string): Buffer | null {
  return TOKEN.test(token) ? createHash('sha256').update(token).digest() : null;
}

/** Read each time: a rotation changes the key of all processes at once. */
async function loadSecret(db: Queryable, keys: Pick<SecretKeys, 'find'>): Promise<Buffer> {
  const [row] = await db.query<{ value: Buffer; key_id: string | null }>(
    `SELECT value, (SELECT id FROM secret_keys WHERE state = 'current') AS key_id
     FROM service_secrets WHERE name = 'callback'`,
  );
  if (row === undefined) throw new Error("service_secrets has no row 'callback'; run the migrations");
  const key = row.key_id === null ? null : await findKey(keys, row.key_id);
  if (key === null) return row.value;
  return Buffer.from(hkdfSync('sha256', key, row.value, 'millrace callback token', 32));
}

/** Null if this process lacks it. Waiting for others must not fail over a missing key that only credentials need. */
async function findKey(keys: Pick<SecretKeys, 'find'>, id: string): Promise<Buffer | null> {
  try {
    return (await keys.find(id)).bytes;
  } catch (error) {
    if (error instanceof SecretError) return null;
    throw error;
  }
}
