import type { Queryable } from '../../db/database.ts';
import { selectSigningSecret } from './store.ts';

/** The secret that signs what browsers keep, read once for each process. */
export function createSigningSecret(db: Queryable): () => Promise<Buffer> {
  let secret: Promise<Buffer> | undefined;
  return () => {
    // A failed look-up is not kept: the next request tries again.
    secret ??= selectSigningSecret(db).catch((error: unknown) => {
      secret = undefined;
      throw error;
    });
    return secret;
  };
}
