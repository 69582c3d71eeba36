import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';
import { COUNT_LIMIT } from '@millrace/service/system/store';

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

/** The audit log, as far as the database shows at a glance whether it can be relied on. */
export interface AuditFacts {
  /** Organisations whose last verification found something. */
  readonly changed: number;
  /** Entries that should have been sealed long ago, counted up to 100,000. */
  readonly overdue: number;
  /** Triggers that protect it and aren't there, or are switched off. */
  readonly missing_triggers: number;
}

export async function readAuditFacts(db: Queryable): Promise<AuditFacts> {
  return queryRow<AuditFacts>(
    db,
    `SELECT (SELECT count(*) FROM audit_chains WHERE problem IS NOT NULL) AS changed,
       (SELECT count(*) FROM (SELECT FROM audit_pending WHERE sealable_at < now() - interval '15 minutes' LIMIT $1) p) AS overdue,
       (SELECT count(*) FROM unnest($2::text[]) AS t (name) WHERE NOT EXISTS (
         SELECT FROM pg_trigger WHERE tgname = t.name AND tgenabled IN ('O', 'A')
           AND tgrelid IN ('audit_log'::regclass, 'audit_seals'::regclass, 'audit_chains'::regclass))) AS missing_triggers`,
    [COUNT_LIMIT, AUDIT_TRIGGERS],
  );
}

const AUDIT_TRIGGERS = [
  'audit_log_queue',
  'audit_log_protect',
  'audit_log_keep',
  'audit_seals_protect',
  'audit_seals_keep',
  'audit_chains_protect',
  'audit_chains_keep',
];

/** The database's clock, in epoch milliseconds. */
export async function readClock(db: Queryable): Promise<number> {
  const row = await queryRow<{ ms: number }>(
    db,
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS ms',
  );
  return row.ms;
}

/** How much there is of everything, each counted up to 100,000. */
export interface Counts {
  readonly organisations: number;
  readonly accounts: number;
  readonly workflows: number;
  readonly active_workflows: number;
  readonly credentials: number;
  readonly schedules: number;
  readonly live_workers: number;
  /** As PostgreSQL estimates it. */
  readonly executions: number;
}

export async function readCounts(db: Queryable): Promise<Counts> {
  return queryRow<Counts>(
    db,
    `SELECT (SELECT count(*) FROM (SELECT FROM organisations LIMIT $1) c) AS organisations,
       (SELECT count(*) FROM (SELECT FROM users LIMIT $1) c) AS accounts,
       (SELECT count(*) FROM (SELECT FROM workflows LIMIT $1) c) AS workflows,
       (SELECT count(*) FROM (SELECT FROM workflows WHERE status = 'active' LIMIT $1) c) AS active_workflows,
       (SELECT count(*) FROM (SELECT FROM credentials LIMIT $1) c) AS credentials,
       (SELECT count(*) FROM (SELECT FROM schedules LIMIT $1) c) AS schedules,
       (SELECT count(*) FROM workers WHERE lease_expires_at > now()) AS live_workers,
       (SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = 'executions'::regclass) AS executions`,
    [COUNT_LIMIT],
  );
}

/** A file whose content should be there. */
export interface StoredFile {
  readonly id: string;
  readonly size: number;
}

/** The first files of each of the 256 folders that the beginnings of their ids stand for; folder by folder from the first of each on. */
export async function listStoredAcross(db: Queryable, perFolder: number): Promise<StoredFile[]> {
  return db.query<StoredFile>(
    `SELECT f.id, f.size FROM generate_series(0, 255) AS folder (number)
     CROSS JOIN LATERAL (
       SELECT id, size, row_number() OVER (ORDER BY id) AS place FROM files
       WHERE state = 'stored' AND id BETWEEN rpad(lpad(to_hex(number), 2, '0'), 32, '0')::uuid
         AND rpad(lpad(to_hex(number), 2, '0'), 32, 'f')::uuid
       ORDER BY id LIMIT $1) f
     ORDER BY f.place, folder.number`,
    [perFolder],
  );
}

/** Of these, the ids of files whose content should still be there. */
export async function listStoredOf(db: Queryable, ids: readonly string[]): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `SELECT id FROM files WHERE id = ANY ($1::uuid[]) AND state = 'stored' ORDER BY id`,
    [ids],
  );
  return rows.map(({ id }) => id);
}
