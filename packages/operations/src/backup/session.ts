import type { Queryable } from '@millrace/database/database';

/**
 * Begins a transaction that may take hours. A pooler in transaction mode keeps no settings of a session, so they are made here; values that
 * are copied as text depend on some of them.
 * @param mode such as `ISOLATION LEVEL REPEATABLE READ`
 */
export async function beginLong(session: Queryable, mode: 'SNAPSHOT' | 'WRITE'): Promise<void> {
  await session.query(mode === 'SNAPSHOT' ? 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' : 'BEGIN');
  await session.query(
    `SELECT set_config(name, value, true) FROM unnest($1::text[], $2::text[]) AS setting (name, value)
     WHERE current_setting(name, true) IS NOT NULL`,
    [Object.keys(SETTINGS), Object.values(SETTINGS)],
  );
}

const SETTINGS: Readonly<Record<string, string>> = {
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  transaction_timeout: '0',
  // A reader that pauses for longer than this, such as a slow disk at the other end of a pipe, isn't a lost one.
  tcp_user_timeout: '0',
  client_encoding: 'UTF8',
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  // For indexes that are made after a restore.
  maintenance_work_mem: '128MB',
};
