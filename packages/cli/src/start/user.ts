import { userInfo } from 'node:os';
import { EmbeddedPostgresError } from '@millrace/database/embedded/errors';

/**
 * Refuses a user id without an entry in /etc/passwd, as containers may have: initdb looks it up.
 * @throws EmbeddedPostgresError
 */
export function requireKnownUser(): void {
  try {
    userInfo();
  } catch (cause) {
    const id = process.getuid?.();
    throw new EmbeddedPostgresError(
      `The user id ${id} has no entry in /etc/passwd, and the embedded PostgreSQL can't run as an unknown user. ` +
        `Add one (echo 'millrace:x:${id}:${process.getgid?.()}::/tmp:/bin/sh' >> /etc/passwd), start Millrace as another user, ` +
        'or give it a PostgreSQL server: DATABASE_URL=postgresql://...',
      { cause },
    );
  }
}
