import type { Database, Queryable } from '@millrace/database/database';
import { findOrganisation } from '@millrace/identity/organisations/store';
import { NotSettledError, waitForEarlier } from '@millrace/service/pause/settle';
import { countUnderWay } from '@millrace/service/pause/store';
import type { TableCopy } from './catalog.ts';
import { BackupError } from './errors.ts';

/** Made again where the rows are inserted: counts, an index, and the chain of the audit log, whose hashes cover ids. */
export const NOT_MOVED: ReadonlySet<string> = new Set([
  'audit_chains',
  'audit_pending',
  'audit_seals',
  'data_usage',
  'execution_search_keys',
  'file_usage',
]);
/** Tables without the organisation's id that have rows of it. */
const OF_PEOPLE: ReadonlySet<string> = new Set(['organisations', 'recovery_codes', 'users']);

/**
 * Of these tables, the rows of one organisation. Of accounts, those of its members, with their passwords and second factors; others that its
 * rows name, such as an administrator who has saved a workflow, only as the removed accounts that they are in another instance.
 */
export async function ofOrganisation(
  session: Queryable,
  tables: readonly TableCopy[],
  organisationId: number,
): Promise<TableCopy[]> {
  const kept = tables.filter(
    ({ name, columns }) =>
      !NOT_MOVED.has(name) && (columns.includes('organisation_id') || OF_PEOPLE.has(name)),
  );
  const reads = await session.query<{ name: string; read: string }>(
    `WITH named AS (
       SELECT string_agg(format('SELECT %I FROM %s WHERE organisation_id = %s', a.attname, c.conrelid::regclass, $2::bigint),
         ' UNION ') || format(' UNION SELECT user_id FROM audit_log WHERE organisation_id = %s', $2::bigint) AS ids
       FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
       WHERE c.contype = 'f' AND c.confrelid = 'users'::regclass AND EXISTS (
         SELECT FROM pg_attribute o WHERE o.attrelid = c.conrelid AND o.attname = 'organisation_id' AND NOT o.attisdropped)
     ), member AS (
       SELECT format('EXISTS (SELECT FROM members m WHERE m.organisation_id = %s AND m.email = u.email AND m.removed_at IS NULL
         AND u.removed_at IS NULL)', $2::bigint) AS condition
     )
     SELECT t.name, format('COPY (SELECT %s FROM %I t%s WHERE %s) TO STDOUT', t.list, t.name, t.joined, t.condition) AS read
     FROM member CROSS JOIN named CROSS JOIN LATERAL (
       SELECT r.relname::text AS name,
         CASE r.relname WHEN 'users' THEN ' JOIN users u ON u.id = t.id' WHEN 'recovery_codes' THEN ' JOIN users u ON u.id = t.user_id'
           ELSE '' END AS joined,
         CASE r.relname WHEN 'organisations' THEN format('t.id = %s', $2::bigint)
           WHEN 'users' THEN format('%s OR u.id IN (%s)', member.condition, named.ids)
           WHEN 'recovery_codes' THEN member.condition
           ELSE format('t.organisation_id = %s', $2::bigint) END AS condition,
         string_agg(CASE
           WHEN r.relname <> 'users' THEN format('t.%I', a.attname)
           WHEN a.attname IN ('password_hash', 'totp_key_id', 'totp_ciphertext', 'totp_confirmed_at', 'totp_last_step')
             THEN format('CASE WHEN %s THEN t.%I END', member.condition, a.attname)
           WHEN a.attname = 'removed_at'
             THEN format('CASE WHEN NOT %s THEN coalesce(t.removed_at, now()) END', member.condition)
           ELSE format('t.%I', a.attname) END, ', ' ORDER BY a.attnum) AS list
       FROM pg_class r JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
       WHERE r.relnamespace = current_schema()::regnamespace AND r.relname = ANY ($1::text[])
       GROUP BY r.oid, r.relname
     ) t`,
    [kept.map(({ name }) => name), organisationId],
  );
  const readOf = new Map(reads.map(({ name, read }) => [name, read]));
  return kept.map((table) => ({ ...table, read: readOf.get(table.name) ?? table.read }));
}

/** Ids of the keys that decrypt what a backup of the organisation has. */
export async function keysOf(session: Queryable, organisationId: number): Promise<string[]> {
  const rows = await session.query<{ key_id: string }>(
    `SELECT key_id FROM credentials WHERE organisation_id = $1 AND key_id IS NOT NULL
     UNION SELECT key_id FROM credential_grants WHERE organisation_id = $1 AND key_id IS NOT NULL
     UNION SELECT u.totp_key_id FROM users u JOIN members m ON m.email = u.email AND m.removed_at IS NULL
       WHERE m.organisation_id = $1 AND u.removed_at IS NULL AND u.totp_key_id IS NOT NULL
     ORDER BY key_id`,
    [organisationId],
  );
  return rows.map((row) => row.key_id);
}

/**
 * Waits until nothing that hasn't seen the pause can store anything.
 * @throws BackupError `organisation_not_paused`
 * @throws AccountError `organisation_not_found`
 */
export async function waitUntilPaused(db: Database, organisationId: number): Promise<void> {
  const { paused_at: pausedAt, name } = await findOrganisation(db, String(organisationId));
  if (pausedAt === null) throw notPaused(organisationId, `"${name}" is not paused`);
  await waitForEarlier(db).catch((error: unknown) => {
    throw error instanceof NotSettledError ? notPaused(organisationId, error.message) : error;
  });
}

/** What the snapshot sees decides. @throws BackupError `organisation_not_paused` */
export async function requirePaused(session: Queryable, organisationId: number): Promise<void> {
  const { paused_at: pausedAt, name } = await findOrganisation(session, String(organisationId));
  const { executions, alerts } = await countUnderWay(session, organisationId);
  if (pausedAt === null) throw notPaused(organisationId, `"${name}" is not paused`);
  if (executions + alerts > 0) throw notPaused(organisationId, 'something of it still runs');
}

function notPaused(id: number, why: string): BackupError {
  return new BackupError(
    'organisation_not_paused',
    `To be moved, an organisation has to be at rest, or both instances would run it: ${why}. Run "millrace orgs pause --org ${id}" first. Nothing was written.`,
  );
}
