import type { Queryable } from '@millrace/database/database';

/** A table as the database has it, with the statements that copy it. */
export interface TableCopy {
  readonly name: string;
  /** In order, without generated ones. */
  readonly columns: readonly string[];
  readonly read: string;
  readonly write: string;
}

/** What has to be undone before rows are loaded, and how to make it again. */
export interface Rebuild {
  readonly before: string;
  readonly after: string;
}

/** Every table of the schema; a partitioned one once, with what its partitions contain. */
export async function listTables(db: Queryable): Promise<TableCopy[]> {
  return db.query<TableCopy>(
    `SELECT name, columns, format('COPY (SELECT %s FROM %I) TO STDOUT', list, name) AS read,
       format('COPY %I (%s) FROM STDIN', name, list) AS write
     FROM (
       SELECT c.relname::text AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns,
         string_agg(format('%I', a.attname), ', ' ORDER BY a.attnum) AS list
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
       WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       GROUP BY c.oid, c.relname
     ) t ORDER BY name`,
  );
}

/** A sequence, and the last number it gave out. */
export interface SequenceState {
  readonly name: string;
  readonly last_value: number;
  readonly is_called: boolean;
}

/** Every sequence of the schema, those of identity columns included. Numbers in rows that are visible were given out before. */
export async function listSequences(db: Queryable): Promise<SequenceState[]> {
  return db.query<SequenceState>(
    `SELECT sequencename::text AS name, coalesce(last_value, start_value) AS last_value, last_value IS NOT NULL AS is_called
     FROM pg_sequences WHERE schemaname = current_schema() ORDER BY sequencename`,
  );
}

/** Continues each sequence so many numbers after what it had given out. @returns the names that exist */
export async function continueSequences(
  db: Queryable,
  sequences: readonly (SequenceState & { readonly skip: number })[],
): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    `SELECT s.name, setval(format('%I', s.name)::regclass,
       CASE WHEN s.called THEN s.value + s.skip * p.increment_by ELSE s.value END, s.called)
     FROM unnest($1::text[], $2::bigint[], $3::boolean[], $4::bigint[]) AS s (name, value, called, skip)
     JOIN pg_sequences p ON p.schemaname = current_schema() AND p.sequencename = s.name`,
    [
      sequences.map(({ name }) => name),
      sequences.map(({ last_value }) => last_value),
      sequences.map(({ is_called }) => is_called),
      sequences.map(({ skip }) => skip),
    ],
  );
  return rows.map(({ name }) => name);
}

/**
 * Indexes and foreign keys cost less when they are made once everything is loaded; triggers would do again what had been done when the rows
 * were written; and PostgreSQL copies into no table whose row-level security applies to the role.
 */
export async function listRebuilds(db: Queryable): Promise<Rebuild[]> {
  return db.query<Rebuild>(
    `SELECT before, after FROM (
       SELECT 1 AS turn, format('DROP INDEX %I', i.relname) AS before, pg_get_indexdef(i.oid) AS after
       FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
       WHERE i.relnamespace = current_schema()::regnamespace AND NOT i.relispartition
         AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.oid)
       UNION ALL
       SELECT 2, format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname),
         format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
       FROM pg_constraint
       WHERE contype = 'f' AND connamespace = current_schema()::regnamespace AND conparentid = 0
       UNION ALL
       SELECT 3, format('ALTER TABLE %s NO FORCE ROW LEVEL SECURITY', oid::regclass),
         format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', oid::regclass)
       FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relforcerowsecurity
       UNION ALL
       SELECT DISTINCT 4, format('ALTER TABLE %s DISABLE TRIGGER USER', tgrelid::regclass),
         format('ALTER TABLE %s ENABLE TRIGGER USER', tgrelid::regclass)
       FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
       WHERE c.relnamespace = current_schema()::regnamespace AND NOT t.tgisinternal AND t.tgparentid = 0
     ) r ORDER BY turn, before`,
  );
}

/** Removes every row of every table except `schema_migrations`. */
export async function truncateAll(db: Queryable): Promise<void> {
  const [row] = await db.query<{ statement: string | null }>(
    `SELECT 'TRUNCATE ' || string_agg(format('%I', relname), ', ') AS statement FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
       AND relname NOT IN ('schema_migrations', 'unfinished_restore')`,
  );
  if (row?.statement != null) await db.query(row.statement);
}
