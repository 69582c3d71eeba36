import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';
import { ORGANISATION_PAUSED } from '@millrace/runtime/paused';
import { COUNT_LIMIT } from './store.ts';

/** A fire that starts later than this after it was due is late. */
const LATE_MS = 60_000;
/** Queued executions of an organisation that are searched for the first one that isn't held. */
const MAX_SEARCHED = 1_000;

const WAITING = "status = 'queued' AND held_until IS NULL";

/** Executions that wait for a worker, as rows with their organisation: up to $1 from each index. */
const WAITING_ROWS = `(SELECT organisation_id FROM executions WHERE ${WAITING} AND max_concurrency IS NULL LIMIT $1)
         UNION ALL (SELECT organisation_id FROM executions WHERE ${WAITING} AND max_concurrency IS NOT NULL AND on_limit IS NULL LIMIT $1)
         UNION ALL (SELECT organisation_id FROM executions WHERE ${WAITING} AND on_limit IS NOT NULL LIMIT $1)`;

export interface QueueOfOrganisation {
  /** Null for all organisations beyond the longest queues, together. */
  readonly organisation_id: number | null;
  readonly queued: number;
  /** Age of the one that was started first; null if unknown. */
  readonly oldest_seconds: number | null;
}

/** The organisations with the longest queues, and the rest as one; held starts don't count. */
export async function listLongestQueues(db: Queryable, limit: number): Promise<QueueOfOrganisation[]> {
  return db.query<QueueOfOrganisation>(
    `WITH queue AS (
       SELECT organisation_id, count(*) AS queued, row_number() OVER (ORDER BY count(*) DESC, organisation_id) AS place
       FROM (${WAITING_ROWS}) q
       GROUP BY organisation_id
     )
     SELECT organisation_id, queued, (
       SELECT extract(epoch FROM now() - created_at)::double precision FROM (
         SELECT created_at, held_until FROM executions
         WHERE organisation_id = q.organisation_id AND status = 'queued' ORDER BY id LIMIT $3) o
       WHERE held_until IS NULL LIMIT 1) AS oldest_seconds
     FROM queue q WHERE place <= $2
     UNION ALL
     SELECT NULL, sum(queued)::bigint, NULL FROM queue WHERE place > $2 HAVING count(*) > 0`,
    [COUNT_LIMIT, limit, MAX_SEARCHED],
  );
}

export interface StorageOfOrganisation {
  /** Null for all organisations beyond those that store most, together. */
  readonly organisation_id: number | null;
  readonly executions_bytes: number;
  readonly data_bytes: number;
  readonly files: number;
  readonly files_bytes: number;
  /** Its own limits: null for the service's, 0 for none. */
  readonly executions_limit: number | null;
  readonly data_limit: number | null;
}

/** The organisations that store most, and the rest as one. */
export async function listLargestStorage(db: Queryable, limit: number): Promise<StorageOfOrganisation[]> {
  return db.query<StorageOfOrganisation>(
    `WITH usage AS (
       SELECT organisation_id, coalesce(u.bytes, 0) AS executions_bytes, coalesce(d.bytes, 0) AS data_bytes,
         coalesce(f.files, 0) AS files, coalesce(f.bytes, 0) AS files_bytes,
         row_number() OVER (ORDER BY coalesce(u.bytes, 0) + coalesce(d.bytes, 0) + coalesce(f.bytes, 0) DESC, organisation_id) AS place
       FROM storage_usage u FULL JOIN data_usage d USING (organisation_id) FULL JOIN file_usage f USING (organisation_id)
     )
     SELECT organisation_id, executions_bytes, data_bytes, files, files_bytes, o.executions_storage_bytes AS executions_limit,
       o.data_storage_bytes AS data_limit
     FROM usage LEFT JOIN organisations o ON o.id = organisation_id WHERE place <= $1
     UNION ALL
     SELECT NULL, sum(executions_bytes)::bigint, sum(data_bytes)::bigint, sum(files)::bigint, sum(files_bytes)::bigint, NULL, NULL
     FROM usage WHERE place > $1 HAVING count(*) > 0`,
    [limit],
  );
}

export interface ServiceFacts {
  readonly now: Date;
  readonly live_workers: number;
  readonly schema_version: number;
  readonly database_bytes: number;
  readonly late_schedules: number;
  /** How late the latest of them is; 0 if none is due. */
  readonly lateness_seconds: number;
}

/** What the database says about the service as a whole. */
export async function readServiceFacts(db: Queryable): Promise<ServiceFacts> {
  return queryRow<ServiceFacts>(
    db,
    `SELECT now() AS now, (SELECT count(*) FROM workers WHERE lease_expires_at > now()) AS live_workers,
       (SELECT max(version) FROM schema_migrations) AS schema_version,
       pg_database_size(current_database()) AS database_bytes,
       (SELECT count(*) FROM (
         SELECT FROM schedules WHERE next_fire_at < now() - $2 * interval '1 millisecond' AND NOT ${ORGANISATION_PAUSED} LIMIT $1) l) AS late_schedules,
       (SELECT greatest(coalesce(extract(epoch FROM now() - min(next_fire_at)), 0), 0)::double precision FROM schedules
         WHERE NOT ${ORGANISATION_PAUSED})
         AS lateness_seconds`,
    [COUNT_LIMIT, LATE_MS],
  );
}
