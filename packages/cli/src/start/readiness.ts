import type { PgDatabase } from '@millrace/database/pool';
import type { WriteObstacle } from '@millrace/database/write-watch';
import type { Readiness } from '@millrace/http/health';
import { type Message, message } from '@millrace/messages';
import { endsWithin } from '@millrace/runtime/ends-within';

/** Probes usually give up after a few seconds. */
const MAX_MS = 2_000;

/**
 * Ready: the database responds in time, is migrated and accepts writes, and the process isn't stopping. A probe needs a response, however
 * long the database takes.
 */
export async function checkReadiness(db: PgDatabase, isStopping: boolean): Promise<Readiness> {
  const readiness = check(db, isStopping);
  const isInTime = await endsWithin(readiness, MAX_MS);
  return isInTime ? readiness : { ready: false, reason: message('api.database_slow') };
}

async function check(db: PgDatabase, isStopping: boolean): Promise<Readiness> {
  if (isStopping) return { ready: false, reason: message('api.stopping') };
  try {
    const [state] = await db.query<{ is_read_only: boolean }>(
      `SELECT current_setting('transaction_read_only') = 'on' AS is_read_only FROM schema_migrations LIMIT 1`,
    );
    if (state === undefined) return { ready: false, reason: message('api.database_unmigrated') };
    const obstacle = state.is_read_only ? 'read_only' : await db.findWriteObstacle();
    return obstacle === null ? { ready: true } : { ready: false, reason: REASONS[obstacle] };
  } catch {
    return { ready: false, reason: message('api.database_unreachable') };
  }
}

const REASONS: Readonly<Record<WriteObstacle, Message>> = {
  read_only: message('api.database_read_only'),
  disk_full: message('api.database_full'),
};
