import type { Database, Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';
import type { TableCopy } from './catalog.ts';
import { BackupError } from './errors.ts';

/** A table of the service, and the temporary one whose rows are to be added to it. */
export interface MovedTable extends TableCopy {
  readonly create: string;
  readonly insert: string;
  /** The moved tables that it refers to. */
  readonly needs: readonly string[];
}

/** By the name of a table: what is added to the ids of its moved rows. */
export type Shifts = ReadonlyMap<string, number>;

/** What clients, flows and the receivers of calls know by its id. */
const KEPT_IDS = ['workflows', 'executions', 'credentials'];

/** The tables with these names, in their order. */
export async function listMovedTables(session: Queryable, names: readonly string[]): Promise<MovedTable[]> {
  const tables = await session.query<MovedTable>(
    `SELECT name, columns, needs, '' AS read, format('COPY %I (%s) FROM STDIN', 'moved_' || name, list) AS write,
       format('CREATE TEMP TABLE %I (LIKE %I INCLUDING GENERATED) ON COMMIT DROP', 'moved_' || name, name) AS create,
       format('INSERT INTO %I (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM %I', name, list, list, 'moved_' || name) AS insert
     FROM (
       SELECT c.relname::text AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns,
         string_agg(format('%I', a.attname), ', ' ORDER BY a.attnum) AS list,
         ARRAY(SELECT DISTINCT t.relname::text FROM pg_constraint f JOIN pg_class t ON t.oid = f.confrelid
           WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.confrelid <> c.oid AND t.relname = ANY ($1::text[])) AS needs
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
       WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY ($1::text[])
       GROUP BY c.oid, c.relname
     ) t ORDER BY name`,
    [names],
  );
  return names.flatMap((name) => tables.filter((table) => table.name === name));
}

/** What this instance already has; empty if the rows can be added. */
export async function findClashes(session: Queryable, name: string): Promise<string[]> {
  const rows = await session.query<{ kind: string; count: number; ids: readonly number[] }>(
    `SELECT kind, count(*) AS count, (array_agg(id ORDER BY id))[:5] AS ids FROM (
       SELECT 'workflow' AS kind, id FROM workflows JOIN moved_workflows USING (id)
       UNION ALL SELECT 'execution', id FROM executions JOIN moved_executions USING (id)
       UNION ALL SELECT 'credential', id FROM credentials JOIN moved_credentials USING (id)
     ) c GROUP BY kind ORDER BY kind DESC`,
  );
  const named = await session.query('SELECT FROM organisations WHERE name = $1', [name]);
  return [
    ...(named.length > 0 ? [`an organisation named "${name}"`] : []),
    ...rows.map(({ kind, count, ids }) => {
      const more = count > ids.length ? ` and ${count - ids.length} more` : '';
      return `${kind}${count === 1 ? '' : 's'} with the same id${count === 1 ? '' : 's'} (${ids.join(', ')}${more})`;
    }),
  ];
}

interface Sequence {
  readonly table: string;
  readonly name: string;
  readonly is_kept: boolean;
  /** The largest number in the moved rows, or the smallest of those that go down; null: none. */
  readonly farthest: number | null;
}

/**
 * Makes sure that nobody is given an id of the moved rows: sequences continue after them. In a transaction of its own, because it keeps others from
 * getting ids.
 */
export async function reserveIds(db: Database, session: Queryable): Promise<Shifts> {
  const statements = await session.query<{ statement: string }>(
    `SELECT format('SELECT %L AS table, %L AS name, %L::boolean AS is_kept, max(id) AS farthest FROM %I', c.relname,
       pg_get_serial_sequence(c.oid::regclass::text, 'id')::regclass, c.relname = ANY ($1::text[]), 'moved_' || c.relname) AS statement
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'id' AND a.attidentity <> ''
     WHERE c.relnamespace = current_schema()::regnamespace AND to_regclass('pg_temp.' || quote_ident('moved_' || c.relname)) IS NOT NULL
     UNION ALL SELECT $$SELECT 'executions' AS table, 'execution_ids' AS name, true AS is_kept, max(id) AS farthest FROM moved_executions$$
     UNION ALL SELECT $$SELECT '' AS table, 'draft_revisions' AS name, true AS is_kept, max(revision) AS farthest FROM moved_workflow_drafts$$
     UNION ALL SELECT $$SELECT '' AS table, 'trial_versions' AS name, true AS is_kept, least(min(version), -1) AS farthest
       FROM moved_workflow_versions$$`,
    [KEPT_IDS],
  );
  const sequences: Sequence[] = [];
  for (const { statement } of statements) sequences.push(await queryRow<Sequence>(session, statement));
  const shifts = new Map<string, number>();
  await db.transaction(async (tx) => {
    for (const { table, name, is_kept: isKept, farthest } of sequences) {
      if (farthest === null) continue;
      const given = await lockSequence(tx, name);
      const upTo = isKept ? farthest : given + farthest;
      if (!isKept) shifts.set(table, given);
      if (Math.abs(upTo) > Math.abs(given)) await tx.query('SELECT setval($1::regclass, $2)', [name, upTo]);
    }
  });
  return shifts;
}

/** Until the transaction ends, nobody gets a number of it. @returns the last one that was given out; 0 for none */
async function lockSequence(tx: Queryable, name: string): Promise<number> {
  const { alter, read } = await queryRow<{ alter: string; read: string }>(
    tx,
    `SELECT format('ALTER SEQUENCE %s CACHE 1', $1::regclass) AS alter,
       format('SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS given FROM %s', $1::regclass) AS read`,
    [name],
  );
  await tx.query(alter);
  return (await queryRow<{ given: number }>(tx, read)).given;
}

/**
 * Replaces the accounts of people who have one here by those. Where they come from, an account is theirs by its address, as a membership is.
 * @returns the former ids of the other accounts, by their new ones
 */
export async function mapAccounts(session: Queryable, shifts: Shifts): Promise<ReadonlyMap<number, number>> {
  await session.query(
    `CREATE TEMP TABLE moved_accounts ON COMMIT DROP AS
     SELECT m.id AS old, coalesce(u.id, m.id + $1::bigint) AS new, u.id IS NOT NULL AS is_known
     FROM moved_users m LEFT JOIN users u ON u.email = m.email AND u.removed_at IS NULL`,
    [shifts.get('users') ?? 0],
  );
  await session.query(
    'DELETE FROM moved_recovery_codes WHERE user_id IN (SELECT old FROM moved_accounts WHERE is_known)',
  );
  await session.query('DELETE FROM moved_users WHERE id IN (SELECT old FROM moved_accounts WHERE is_known)');
  const rows = await session.query<{ old: number; new: number }>(
    'SELECT old, new FROM moved_accounts JOIN moved_users ON id = old WHERE removed_at IS NULL',
  );
  await session.query('UPDATE moved_users SET id = new FROM moved_accounts WHERE id = old');
  return new Map(rows.map((row) => [row.new, row.old]));
}

/** Gives the rows their new ids, wherever one names another. */
export async function changeReferences(session: Queryable, shifts: Shifts): Promise<void> {
  const others = [...shifts].filter(([table]) => table !== 'users');
  const statements = await session.query<{ statement: string }>(
    `WITH moved AS (
       SELECT c.oid, c.relname FROM pg_class c
       WHERE c.relnamespace = current_schema()::regnamespace AND to_regclass('pg_temp.' || quote_ident('moved_' || c.relname)) IS NOT NULL
     ), reference AS (
       SELECT m.relname, a.attname, t.relname AS target
       FROM pg_constraint f JOIN moved m ON m.oid = f.conrelid JOIN pg_class t ON t.oid = f.confrelid
         CROSS JOIN LATERAL unnest(f.conkey, f.confkey) AS k (here, there)
         JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.here
         JOIN pg_attribute i ON i.attrelid = f.confrelid AND i.attnum = k.there AND i.attname = 'id'
       WHERE f.contype = 'f'
       UNION SELECT m.relname, 'organisation_id', 'organisations' FROM moved m JOIN pg_attribute a ON a.attrelid = m.oid
         AND a.attname = 'organisation_id' AND NOT a.attisdropped
       UNION SELECT relname, 'id', relname FROM moved
       -- What these name may be deleted.
       UNION VALUES ('executions', 'api_key_id', 'api_keys'), ('audit_log', 'api_key_id', 'api_keys'),
         ('audit_log', 'member_id', 'members'), ('audit_log', 'user_id', 'users')
     )
     SELECT format('UPDATE %I SET %s', 'moved_' || r.relname, string_agg(format('%I = %I + %s', r.attname, r.attname, s.shift), ', '))
       AS statement
     FROM reference r JOIN unnest($1::text[], $2::bigint[]) AS s (name, shift) ON s.name = r.target
     WHERE s.shift <> 0 GROUP BY r.relname
     UNION ALL
     SELECT format('UPDATE %I t SET %I = new FROM moved_accounts WHERE old = t.%I', 'moved_' || relname, attname, attname)
     FROM reference WHERE target = 'users' AND relname <> 'users'`,
    [others.map(([table]) => table), others.map(([, shift]) => shift)],
  );
  for (const { statement } of statements) await session.query(statement);
  await changeTexts(session, shifts);
}

/** Ids inside of values. */
async function changeTexts(session: Queryable, shifts: Shifts): Promise<void> {
  // What executions refer to comes in rows of its own; a trigger would make them twice.
  await session.query('UPDATE moved_executions SET given_files = NULL WHERE given_files IS NOT NULL');
  await session.query(
    `UPDATE moved_callbacks SET decided_by = jsonb_set(decided_by::jsonb, '{member_id}',
       to_jsonb((decided_by ->> 'member_id')::bigint + $1::bigint))::json
     WHERE decided_by ->> 'member_id' IS NOT NULL`,
    [shifts.get('members') ?? 0],
  );
  const ofKeys = shifts.get('api_keys') ?? 0;
  await session.query(
    `UPDATE moved_execution_views SET filters = jsonb_set(filters::jsonb, '{key}',
       to_jsonb((filters ->> 'key')::bigint + $1::bigint))::json
     WHERE filters ->> 'key' IS NOT NULL`,
    [ofKeys],
  );
  await session.query(
    `UPDATE moved_alert_incidents SET subject = 'api_key:' || (split_part(subject, ':', 2)::bigint + $1::bigint)
     WHERE subject LIKE 'api\\_key:%'`,
    [ofKeys],
  );
  await session.query(
    `UPDATE moved_alert_marks
     SET mark = 'api_key:' || (substring(mark FROM ':(\\d+)')::bigint + $1::bigint) || substring(mark FROM '\\d+( .*)')
     WHERE mark LIKE 'api\\_key:%'`,
    [ofKeys],
  );
}

/** Each after those that it refers to. */
export function inOrderOfReferences(tables: readonly MovedTable[]): MovedTable[] {
  const done: MovedTable[] = [];
  let open = [...tables];
  while (open.length > 0) {
    const names = new Set(open.map(({ name }) => name));
    const next = open.filter(({ needs }) => !needs.some((name) => names.has(name)));
    if (next.length === 0) throw new BackupError('backup_version', 'Tables refer to each other in a circle.');
    done.push(...next);
    open = open.filter((table) => !next.includes(table));
  }
  return done;
}
