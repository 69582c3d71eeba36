import type { Queryable } from '@millrace/database/database';

/** What a secret signs: cursors of lists, or what browsers keep (cookies of known browsers, tokens of sessions). */
export type SigningPurpose = 'cursor' | 'device';

/** A secret that all processes share, read once for each process. */
export function createSigningSecret(db: Queryable, purpose: SigningPurpose): () => Promise<Buffer> {
  let secret: Promise<Buffer> | undefined;
  return () => {
    // A failed look-up is not kept: the next request tries again.
    secret ??= selectSigningSecret(db, purpose).catch((error: unknown) => {
      secret = undefined;
      throw error;
    });
    return secret;
  };
}

/** 32 bytes. @throws Error when the migrations have not been run */
export async function selectSigningSecret(db: Queryable, purpose: SigningPurpose): Promise<Buffer> {
  const [row] = await db.query<{ value: Buffer }>('SELECT value FROM service_secrets WHERE name = $1', [
    purpose,
  ]);
  if (row === undefined) throw new Error(`service_secrets has no row '${purpose}'; run the migrations`);
  return row.value;
}
