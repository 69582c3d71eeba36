import type { CopySession } from '@millrace/database/connection';
import type { Queryable } from '@millrace/database/database';
import { sqlState } from '@millrace/database/errors';
import { hasTable } from '@millrace/database/migrate';
import type { PgDatabase } from '@millrace/database/pool';
import { queryRow } from '@millrace/database/query-row';
import { insertAudit } from '@millrace/identity/audit/store';
import type { ArchiveEntry } from './archive.ts';
import { listTables } from './catalog.ts';
import { BackupError, damaged } from './errors.ts';
import { loadTables, matchTables, type OpenedManifest } from './load.ts';
import { includedKeys } from './manifest.ts';
import {
  changeReferences,
  findClashes,
  inOrderOfReferences,
  listMovedTables,
  type MovedTable,
  mapAccounts,
  reserveIds,
} from './moved-rows.ts';
import { requireKeys, resealMoved } from './reseal.ts';
import type { RestoreOptions, RestoreSummary } from './restoring.ts';
import { beginLong } from './session.ts';
import { lockRestore } from './target.ts';

const UNIQUE_VIOLATION = '23505';

/**
 * Restores one organisation into an instance that may have others and be in use, in one transaction. Its rows are loaded into temporary tables,
 * where they are changed to fit; no table of the service is locked meanwhile. Workflows, executions and credentials keep their ids, which
 * clients, flows and calls to others name; what only the database names gets new ones.
 * @throws BackupError
 */
export async function restoreOrganisation(
  db: PgDatabase,
  entries: AsyncGenerator<ArchiveEntry>,
  { manifest, body }: OpenedManifest,
  options: RestoreOptions,
): Promise<RestoreSummary> {
  const { organisation } = manifest;
  if (organisation === undefined) throw damaged('it has no organisation');
  const keys = { ...options.keys, given: [...options.keys.given, ...includedKeys(manifest)] };
  await requireKeys(keys, manifest.secret_key_ids);
  return await db.copying(async (session) => {
    await requireSchema(session, manifest.schema_version);
    await beginLong(session, 'WRITE');
    try {
      await lockRestore(session);
      const tables = await createTables(
        session,
        matchTables(await listTables(session), manifest).map(({ name }) => name),
      );
      const sums = await loadTables(
        session,
        entries,
        { copies: tables, manifestBody: body },
        options.onProgress,
      );
      await refuseClashes(session, organisation.name);
      const shifts = await reserveIds(db, session);
      const former = await mapAccounts(session, shifts);
      await changeReferences(session, shifts);
      const demoted = await demote(session);
      const id = organisation.id + (shifts.get('organisations') ?? 0);
      await resealMoved(session, keys, organisation.id, former);
      await session.query(
        'UPDATE moved_organisations SET paused_at = CASE WHEN $1 THEN coalesce(paused_at, now()) END',
        [options.isPaused],
      );
      await insertMoved(session, tables);
      const details = { former_id: organisation.id, made_at: manifest.made_at };
      await insertAudit(session, {
        organisationId: id,
        action: 'organisation.restored',
        by: { actor: 'operator' },
        details,
      });
      await session.query(
        `SELECT pg_notify('millrace_queue', 'shares'), pg_notify('millrace_queue', ''), pg_notify('millrace_schedules', '')`,
      );
      await session.query('COMMIT');
      const moved = { id, name: organisation.name, accounts: former.size, demoted };
      return { manifest, tables: sums, migrated: [], requeued: 0, organisation: moved };
    } catch (error) {
      await session.query('ROLLBACK').catch(() => {});
      throw sqlState(error) === UNIQUE_VIOLATION ? alreadyThere(error) : error;
    }
  });
}

/** Rows of a live instance can't be migrated apart from the others. */
async function requireSchema(session: Queryable, wanted: number): Promise<void> {
  const { version } = (await hasTable(session))
    ? await queryRow<{ version: number }>(
        session,
        'SELECT coalesce(max(version), 0) AS version FROM schema_migrations',
      )
    : { version: 0 };
  if (version === wanted) return;
  const how =
    version === 0
      ? 'Start Millrace on this database, or run "millrace migrate".'
      : 'Upgrade both instances to the same version, and back up the organisation again.';
  throw new BackupError(
    'restore_schema',
    `An organisation is restored into an instance of the same version: the backup has schema ${wanted}, this instance ${version}. ${how} Nothing was restored.`,
  );
}

async function createTables(session: CopySession, names: readonly string[]): Promise<MovedTable[]> {
  const tables = await listMovedTables(session, names);
  for (const { create } of tables) await session.query(create);
  return tables;
}

async function refuseClashes(session: Queryable, name: string): Promise<void> {
  const clashes = await findClashes(session, name);
  if (clashes.length === 0) return;
  throw new BackupError(
    'restore_clash',
    `This instance already has ${clashes.join('; ')}. Workflows, executions and credentials keep their ids, because clients, flows and calls to others name them, and an organisation its name. Rename the organisation, or restore into another instance. Nothing was restored.`,
  );
}

function alreadyThere(error: unknown): BackupError {
  const { constraint = '' } = (error instanceof Error ? error : {}) as { readonly constraint?: string };
  return new BackupError(
    'restore_clash',
    `This instance already has something that may exist only once (${constraint}): has the organisation been restored before? Nothing was restored.`,
    { cause: error },
  );
}

/** Who administers one instance doesn't administer the other. */
async function demote(session: Queryable): Promise<number> {
  const { count } = await queryRow<{ count: number }>(
    session,
    `WITH member AS (
       UPDATE moved_members SET role = 'org_admin' WHERE role = 'system_admin' AND removed_at IS NULL RETURNING id
     ), invitation AS (
       UPDATE moved_invitations SET role = 'org_admin' WHERE role = 'system_admin' RETURNING accepted_at, revoked_at
     )
     SELECT (SELECT count(*) FROM member)
       + (SELECT count(*) FROM invitation WHERE accepted_at IS NULL AND revoked_at IS NULL) AS count`,
  );
  return count;
}

/** Triggers leave follow-ups of executions that had failed before, and only those that were there are wanted. */
const UNWANTED =
  'DELETE FROM execution_follow_ups WHERE organisation_id = (SELECT id FROM moved_organisations)';

async function insertMoved(session: Queryable, tables: readonly MovedTable[]): Promise<void> {
  for (const { name, insert } of inOrderOfReferences(tables)) {
    if (name === 'execution_follow_ups') await session.query(UNWANTED);
    await session.query(insert);
  }
}
