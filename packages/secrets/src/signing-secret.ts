import type { Queryable } from '@millrace/database/database';
import { loadOnce } from '@millrace/values/load-once';

/** What a secret signs: list cursors, what browsers store (cookies of known browsers, session tokens), or the verifiers of OAuth. */
export type SigningPurpose = 'cursor' | 'device' | 'oauth';

/** A secret shared by all processes, read once per process. */
export function createSigningSecret(db: Queryable, purpose: SigningPurpose): () => Promise<Buffer> {
  return loadOnce(() => selectSigningSecret(db, purpose));
}

/** 32 bytes. @throws Error when the migrations have not been run */
export async function selectSigningSecret(db: Queryable, purpose: SigningPurpose): Promise<Buffer> {
  const [row] = await db.query<{ value: Buffer }>('SELECT value FROM service_secrets WHERE name = $1', [
    purpose,
  ]);
  if (row === undefined) throw new Error(`service_secrets has no row '${purpose}'; run the migrations`);
  return row.value;
}
