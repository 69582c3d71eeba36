import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';

/** The database's current time, not the transaction's. */
export async function readClock(db: Queryable): Promise<Date> {
  return (await queryRow<{ now: Date }>(db, 'SELECT clock_timestamp() AS now')).now;
}

/** Whether a transaction of the service that began before this moment hasn't ended. Commands, such as a backup, don't count. */
export async function hasEarlierTransactions(db: Queryable, moment: Date): Promise<boolean> {
  const row = await queryRow<{ present: boolean }>(
    db,
    `SELECT EXISTS (
       SELECT FROM pg_stat_activity
       WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
         AND application_name <> 'millrace command' AND xact_start <= $1) AS present`,
    [moment],
  );
  return row.present;
}

/** The work of an organisation in progress. */
export interface UnderWay {
  readonly executions: number;
  /** Alerts that a process is sending. */
  readonly alerts: number;
}

export function countUnderWay(db: Queryable, organisationId: number): Promise<UnderWay> {
  return queryRow<UnderWay>(
    db,
    `SELECT (SELECT count(*) FROM executions WHERE organisation_id = $1 AND status = 'running') AS executions,
       (SELECT count(*) FROM alert_messages
        WHERE organisation_id = $1 AND status = 'pending' AND claimed_until > clock_timestamp()) AS alerts`,
    [organisationId],
  );
}

/**
 * Puts running executions back into the queue, like a worker that is stopped. Their workers are notified that they have lost the leases, and
 * anything they still want to store is refused. No crash is counted.
 */
export async function takeBackRunning(tx: Queryable, organisationId: number): Promise<number> {
  const rows = await tx.query(
    `UPDATE executions SET status = 'queued', worker_id = NULL WHERE organisation_id = $1 AND status = 'running'
     RETURNING pg_notify('millrace_executions', id || '!')`,
    [organisationId],
  );
  return rows.length;
}
