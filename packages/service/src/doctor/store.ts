import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';

/** What the PostgreSQL server says about itself. */
export interface ServerFacts {
  readonly version: number;
  readonly version_name: string;
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly synchronous_commit: string;
  readonly autovacuum: string;
  /** Connections for ordinary users. */
  readonly connections: number;
  readonly role: string;
  /** Row-level security doesn't apply to the role. */
  readonly is_unrestricted: boolean;
  readonly live_workers: number;
}

export async function readServerFacts(db: Queryable): Promise<ServerFacts> {
  return queryRow<ServerFacts>(
    db,
    `SELECT current_setting('server_version_num')::integer AS version, current_setting('server_version') AS version_name,
       current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
       current_setting('synchronous_commit') AS synchronous_commit, current_setting('autovacuum') AS autovacuum,
       current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
         - coalesce(current_setting('reserved_connections', true), '0')::integer AS connections,
       rolname AS role, rolsuper OR rolbypassrls AS is_unrestricted,
       (SELECT count(*) FROM workers WHERE lease_expires_at > now()) AS live_workers
     FROM pg_roles WHERE rolname = current_user`,
  );
}

/** The database's clock, in epoch milliseconds. */
export async function readClock(db: Queryable): Promise<number> {
  const row = await queryRow<{ ms: number }>(
    db,
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS ms',
  );
  return row.ms;
}
