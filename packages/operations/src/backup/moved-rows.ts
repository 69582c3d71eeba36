import type { Database, Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';
import { KNOWN_KINDS, type KnownKind } from '@millrace/identity/organisations/former-ids';
import type { SequenceState, TableCopy } from './catalog.ts';
import { BackupError } from './errors.ts';
import { NAMED_BY_ALERTS, NAMED_IN_DETAILS, REFERENCES } from './moved-references.ts';

/** A table of the service, and the temporary one whose rows are to be added to it. */
export interface MovedTable extends TableCopy {
  readonly create: string;
  readonly insert: string;
  /** The moved tables that it refers to. */
  readonly needs: readonly string[];
}

/** By the name of a table: what is added to the ids of its moved rows. */
export type Shifts = ReadonlyMap<string, number>;

/** The tables with these names, in their order. */
export async function listMovedTables(session: Queryable, names: readonly string[]): Promise<MovedTable[]> {
  const tables = await session.query<MovedTable>(
    `SELECT name, columns, needs, '' AS read, format('COPY %I (%s) FROM STDIN', 'moved_' || name, list) AS write,
       format('CREATE TEMP TABLE %I (LIKE %I INCLUDING GENERATED) ON COMMIT DROP', 'moved_' || name, name) AS create,
       format('INSERT INTO %I (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM %I', name, list, list, 'moved_' || name) AS insert
     FROM (
       SELECT c.relname::text AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns,
         string_agg(format('%I', a.attname), ', ' ORDER BY a.attnum) AS list,
         ARRAY(SELECT t.relname::text FROM pg_constraint f JOIN pg_class t ON t.oid = f.confrelid
           WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.confrelid <> c.oid AND t.relname = ANY ($1::text[])
           -- Without a foreign key; what triggers leave for executions has to go before these come.
           UNION SELECT 'executions' WHERE c.relname = 'execution_follow_ups') AS needs
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
       WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY ($1::text[])
       GROUP BY c.oid, c.relname
     ) t ORDER BY name`,
    [names],
  );
  return names.flatMap((name) => tables.filter((table) => table.name === name));
}

/** How the ids of a kind change that is known outside of the database. */
export interface Renumbering {
  readonly kind: KnownKind;
  /** The last id that was given out where the rows come from, whether its row is still there or not. */
  readonly lastFormer: number;
  readonly shift: number;
}

/** What the new ids are. */
export interface NewIds {
  readonly shifts: Shifts;
  readonly renumbered: readonly Renumbering[];
}

interface MovedSequence {
  readonly table: string;
  readonly name: string;
  readonly is_known: boolean;
  /** The largest number in the moved rows, or the smallest of those that go down; null: none. */
  readonly farthest: number | null;
  readonly nearest: number | null;
}

/**
 * Makes sure that nobody is given an id of the moved rows: sequences continue after them. In a transaction of its own, because it keeps others from
 * getting ids.
 *
 * What is known by its id outside of the database keeps it if this instance hasn't given out any that large. Otherwise it gets ids beyond all
 * that either instance has given out, so that no former id of the organisation is also a present one.
 * @param given the sequences where the rows come from
 */
export async function reserveIds(
  db: Database,
  session: Queryable,
  given: readonly SequenceState[],
): Promise<NewIds> {
  const sequences = await listMovedSequences(session);
  const lastIds = await lastFormerIds(session);
  const shifts = new Map<string, number>();
  const renumbered: Renumbering[] = [];
  await db.transaction(async (tx) => {
    for (const { table, name, is_known: isKnown, farthest, nearest } of sequences) {
      const there = isKnown ? Math.max(givenOut(given, name), lastIds.get(table) ?? 0) : 0;
      if (farthest === null && there === 0) continue;
      const last = await lockSequence(tx, name);
      const lastFormer = Math.max(there, farthest ?? 0);
      let upTo = isKnown ? lastFormer : last + (farthest ?? 0);
      if (table === '') upTo = farthest ?? 0;
      else if (!isKnown) shifts.set(table, last);
      else if (nearest !== null && nearest <= last) {
        const shift = Math.max(last, lastFormer);
        shifts.set(table, shift);
        renumbered.push({ kind: table as KnownKind, lastFormer, shift });
        upTo = shift + lastFormer;
      }
      if (Math.abs(upTo) > Math.abs(last)) await tx.query('SELECT setval($1::regclass, $2)', [name, upTo]);
    }
  });
  return { shifts, renumbered };
}

async function listMovedSequences(session: Queryable): Promise<MovedSequence[]> {
  const statements = await session.query<{ statement: string }>(
    `SELECT format('SELECT %L AS table, %L AS name, %L::boolean AS is_known, max(id) AS farthest, min(id) AS nearest FROM %I', c.relname,
       pg_get_serial_sequence(c.oid::regclass::text, 'id')::regclass, c.relname = ANY ($1::text[]), 'moved_' || c.relname) AS statement
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'id' AND a.attidentity <> ''
     WHERE c.relnamespace = current_schema()::regnamespace AND to_regclass('pg_temp.' || quote_ident('moved_' || c.relname)) IS NOT NULL
     UNION ALL SELECT $$SELECT 'executions' AS table, 'execution_ids' AS name, true AS is_known, max(id) AS farthest, min(id) AS nearest
       FROM moved_executions$$
     UNION ALL SELECT $$SELECT '' AS table, 'draft_revisions' AS name, false AS is_known, max(revision) AS farthest, NULL::bigint AS nearest
       FROM moved_workflow_drafts$$
     UNION ALL SELECT $$SELECT '' AS table, 'trial_versions' AS name, false AS is_known, least(min(version), -1) AS farthest,
       NULL::bigint AS nearest FROM moved_workflow_versions$$`,
    [KNOWN_KINDS],
  );
  const sequences: MovedSequence[] = [];
  for (const { statement } of statements) sequences.push(await queryRow<MovedSequence>(session, statement));
  return sequences;
}

function givenOut(sequences: readonly SequenceState[], name: string): number {
  const sequence = sequences.find((each) => each.name === name);
  return sequence?.is_called === true ? sequence.last_value : 0;
}

/** Of a move before this one. */
async function lastFormerIds(session: Queryable): Promise<ReadonlyMap<string, number>> {
  const rows = await session.query<{ kind: string; last_id: number }>(
    'SELECT kind, max(last_id) AS last_id FROM moved_former_ids GROUP BY kind',
  );
  return new Map(rows.map((row) => [row.kind, row.last_id]));
}

/** Leaves what finds the rows by the ids that they had, also those of a move before this one. */
export async function keepFormerIds(
  session: Queryable,
  organisationId: number,
  renumbered: readonly Renumbering[],
): Promise<void> {
  for (const { kind, lastFormer, shift } of renumbered) {
    await session.query('UPDATE moved_former_ids SET shift = shift + $2 WHERE kind = $1', [kind, shift]);
    await session.query(
      `INSERT INTO moved_former_ids (organisation_id, kind, first_id, last_id, shift)
       SELECT $1, $2, first_id, $3, $4 FROM (
         SELECT coalesce(max(last_id), 0) + 1 AS first_id FROM moved_former_ids WHERE kind = $2) f
       WHERE first_id <= $3::bigint`,
      [organisationId, kind, lastFormer, shift],
    );
  }
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

/** What became of the accounts that came with an organisation. */
export interface MappedAccounts {
  /** The former ids of those that are new here, by their new ones. */
  readonly former: ReadonlyMap<number, number>;
  /** Addresses of members whose account here never proved that the address is theirs: they are not made members. */
  readonly unproved: readonly string[];
  /** API keys that were revoked, because the account that issued them had not proved its address where it comes from. */
  readonly revokedKeys: number;
}

/**
 * Replaces the accounts of people who have one here by those. Where they come from, an account is theirs by its address, as a membership is: what an
 * account has not proved to be its own gives nobody anything ([ADR 0019](../../../../docs/adr/0019-whose-address-it-is.md)).
 */
export async function mapAccounts(session: Queryable, shifts: Shifts): Promise<MappedAccounts> {
  await session.query(
    `CREATE TEMP TABLE moved_accounts ON COMMIT DROP AS
     SELECT m.id AS old, coalesce(u.id, m.id + $1::bigint) AS new, u.id IS NOT NULL AS is_known, m.email,
       u.email_verified_at IS NOT NULL AS is_proved_here, m.email_verified_at IS NOT NULL AS was_proved
     FROM moved_users m LEFT JOIN users u ON u.email = m.email AND u.removed_at IS NULL AND m.removed_at IS NULL`,
    [shifts.get('users') ?? 0],
  );
  const unproved = await session.query<{ email: string }>(
    `UPDATE moved_members m SET removed_at = now() FROM moved_accounts a
     WHERE a.email = m.email AND m.removed_at IS NULL AND a.is_known AND NOT a.is_proved_here RETURNING m.email`,
  );
  const revoked = await session.query(
    `UPDATE moved_api_keys k SET revoked_at = now() FROM moved_accounts a
     WHERE a.old = k.issued_by_user AND k.revoked_at IS NULL AND a.is_known AND a.is_proved_here AND NOT a.was_proved
     RETURNING k.id`,
  );
  await session.query(
    `UPDATE moved_invitations i SET revoked_at = now() FROM moved_accounts a
     WHERE a.old = i.invited_by AND i.accepted_at IS NULL AND i.revoked_at IS NULL
       AND a.is_known AND a.is_proved_here AND NOT a.was_proved`,
  );
  await session.query(
    'DELETE FROM moved_recovery_codes WHERE user_id IN (SELECT old FROM moved_accounts WHERE is_known)',
  );
  await session.query('DELETE FROM moved_users WHERE id IN (SELECT old FROM moved_accounts WHERE is_known)');
  const rows = await session.query<{ old: number; new: number }>(
    'SELECT old, new FROM moved_accounts JOIN moved_users ON id = old WHERE removed_at IS NULL',
  );
  await session.query('UPDATE moved_users SET id = new FROM moved_accounts WHERE id = old');
  return {
    former: new Map(rows.map((row) => [row.new, row.old])),
    unproved: unproved.map(({ email }) => email).toSorted(),
    revokedKeys: revoked.length,
  };
}

/** Gives the rows their new ids, wherever one names another. */
export async function changeReferences(session: Queryable, shifts: Shifts): Promise<void> {
  const others = [...shifts].filter(([table]) => table !== 'users');
  if (shifts.has('executions')) {
    await session.query('UPDATE moved_executions SET started_as = coalesce(started_as, id)');
  }
  const statements = await session.query<{ statement: string }>(
    `WITH reference AS (
       SELECT c.relname, a.attname, CASE a.attname WHEN 'id' THEN c.relname ELSE r.target END AS target
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid = 'bigint'::regtype
         LEFT JOIN unnest($1::text[], $2::text[]) AS r (name, target) ON r.name = a.attname
       WHERE c.relnamespace = current_schema()::regnamespace AND to_regclass('pg_temp.' || quote_ident('moved_' || c.relname)) IS NOT NULL
         AND (a.attname = 'id' OR r.target IS NOT NULL)
     )
     SELECT format('UPDATE %I SET %s', 'moved_' || r.relname,
       string_agg(format('%I = %I + CASE WHEN %I > 0 THEN %s ELSE 0 END', r.attname, r.attname, r.attname, s.shift), ', ')) AS statement
     FROM reference r JOIN unnest($3::text[], $4::bigint[]) AS s (name, shift) ON s.name = r.target
     WHERE s.shift <> 0 GROUP BY r.relname
     UNION ALL
     SELECT format('UPDATE %I t SET %I = new FROM moved_accounts WHERE old = t.%I', 'moved_' || relname, attname, attname)
     FROM reference WHERE target = 'users' AND relname <> 'users'`,
    [
      Object.keys(REFERENCES),
      Object.values(REFERENCES),
      others.map(([table]) => table),
      others.map(([, shift]) => shift),
    ],
  );
  for (const { statement } of statements) await session.query(statement);
  await changeTexts(session, shifts);
}

/** Ids inside of values. */
async function changeTexts(session: Queryable, shifts: Shifts): Promise<void> {
  // What executions refer to comes in rows of its own; a trigger would make them twice.
  await session.query('UPDATE moved_executions SET given_files = NULL WHERE given_files IS NOT NULL');
  for (const [table, column, member, of] of MEMBERS) {
    await changeMember(session, { table, column, member }, shifts.get(of));
  }
  for (const [member, table] of Object.entries(NAMED_IN_DETAILS)) {
    await changeMember(session, { table: 'audit_log', column: 'details', member }, shifts.get(table));
  }
  for (const [prefix, table] of Object.entries(NAMED_BY_ALERTS)) {
    await changeSubjects(session, prefix, shifts.get(table) ?? 0);
  }
  for (const kind of ['workflows', 'executions'] as const) {
    await session.query(
      `UPDATE moved_idempotency_records SET route = substring(route FROM $1) || (substring(route FROM $2)::bigint + $4::bigint)
         || substring(route FROM $3)
       WHERE route ~ $1 AND $4::bigint <> 0`,
      [
        `^[A-Z]+ /api/v1/${kind}/(?=[0-9])`,
        `/api/v1/${kind}/([0-9]+)`,
        `/api/v1/${kind}/[0-9]+(.*)$`,
        shifts.get(kind) ?? 0,
      ],
    );
  }
}

/** Members of JSON that are ids, and of what. */
const MEMBERS = [
  ['callbacks', 'decided_by', 'member_id', 'members'],
  ['execution_views', 'filters', 'key', 'api_keys'],
  ['execution_views', 'filters', 'workflow', 'workflows'],
  ['alert_rules', 'target', 'credential_id', 'credentials'],
] as const;

interface JsonMember {
  readonly table: 'callbacks' | 'execution_views' | 'alert_rules' | 'audit_log';
  readonly column: 'decided_by' | 'filters' | 'target' | 'details';
  readonly member: string;
}

/** Adds to a number in a column of JSON; to nothing else of that name. */
async function changeMember(
  session: Queryable,
  { table, column, member }: JsonMember,
  shift = 0,
): Promise<void> {
  if (shift === 0) return;
  await session.query(
    `UPDATE moved_${table} SET ${column} = jsonb_set(${column}::jsonb, ARRAY[$1::text],
       to_jsonb((${column} ->> $1)::bigint + $2::bigint))::json
     WHERE json_typeof(${column} -> $1) = 'number' AND ${column} ->> $1 ~ '^[1-9][0-9]{0,14}$'`,
    [member, shift],
  );
}

/** What an alert is about begins its subject and its mark. */
async function changeSubjects(session: Queryable, prefix: string, shift: number): Promise<void> {
  for (const [table, column] of [
    ['alert_incidents', 'subject'],
    ['alert_marks', 'mark'],
  ]) {
    await session.query(
      `UPDATE moved_${table} SET ${column} = $1::text || ':' || (substring(${column} FROM ':([0-9]+)')::bigint + $2::bigint)
         || coalesce(substring(${column} FROM ':[0-9]+( .*)$'), '')
       WHERE ${column} ~ ('^' || $1 || ':[0-9]+( |$)') AND $2::bigint <> 0`,
      [prefix, shift],
    );
  }
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
