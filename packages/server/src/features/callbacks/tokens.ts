import { createHash, createHmac } from 'node:crypto';
import type { Queryable } from '../../db/database.ts';

export type CallbackKind = 'callback' | 'approval';

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Makes the tokens of one-time addresses: the same for every attempt of a node, and unknown to who has the database's rows. */
export type MakeToken = (kind: CallbackKind, idempotencyKey: string) => Promise<string>;

/** HMAC-SHA-256 under a secret in the database, which all processes share. */
export function createTokenMaker(db: Queryable): MakeToken {
  let secret: Promise<Buffer> | undefined;
  // A failed look-up is not kept: the next call tries again.
  const loadSecret = (): Promise<Buffer> => {
    secret ??= selectSecret(db).catch((error: unknown) => {
      secret = undefined;
      throw error;
    });
    return secret;
  };
  return async (kind, idempotencyKey) =>
    createHmac('sha256', await loadSecret())
      .update(JSON.stringify([kind, idempotencyKey]))
      .digest('base64url');
}

/** What is stored of a token; null for a text that cannot be one. */
export function hashToken(token: string): Buffer | null {
  return TOKEN.test(token) ? createHash('sha256').update(token).digest() : null;
}

async function selectSecret(db: Queryable): Promise<Buffer> {
  const [row] = await db.query<{ value: Buffer }>(
    "SELECT value FROM service_secrets WHERE name = 'callback'",
  );
  if (row === undefined) throw new Error("service_secrets has no row 'callback'; run the migrations");
  return row.value;
}
