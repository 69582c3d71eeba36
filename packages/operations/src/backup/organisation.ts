import type { CopySession } from '@millrace/database/connection';
import type { Queryable } from '@millrace/database/database';
import { sqlState } from '@millrace/database/errors';
import { hasTable } from '@millrace/database/migrate';
import type { PgDatabase } from '@millrace/database/pool';
import { queryRow } from '@millrace/database/query-row';
import { once } from '@millrace/engine';
import { insertAudit } from '@millrace/identity/audit/store';
import type { ArchiveEntry } from './archive.ts';
import { listTables } from './catalog.ts';
import { BackupError, damaged } from './errors.ts';
import { fileSteps, NO_FILES, RestoredContents } from './file-contents.ts';
import { loadTables, matchTables, type OpenedManifest } from './load.ts';
import { includedKeys } from './manifest.ts';
import { renumberFlows } from './moved-flows.ts';
import {
  changeReferences,
  inOrderOfReferences,
  keepFormerIds,
  listMovedTables,
  type MovedTable,
  mapAccounts,
  type Renumbering,
  reserveIds,
} from './moved-rows.ts';
import { requireKeys, resealMoved } from './reseal.ts';
import type { RestoreOptions, RestoreSummary } from './restoring.ts';
import { beginLong } from './session.ts';
import { lockRestore } from './target.ts';

const UNIQUE_VIOLATION = '23505';

/**
 * Restores one organisation into an instance that may have others and be in use, in one transaction. Its rows are loaded into temporary tables,
 * where they are changed to fit; no table of the service is locked meanwhile. Workflows, executions and credentials keep their ids if this
 * instance hasn't given out any that large; otherwise they get others, and are still found by those that clients and outputs know. What only
 * the database names gets new ones.
 * @throws BackupError
 */
export async function restoreOrganisation(
  db: PgDatabase,
  entries: AsyncGenerator<ArchiveEntry>,
  opened: OpenedManifest,
  options: RestoreOptions,
): Promise<RestoreSummary> {
  const { manifest } = opened;
  const { organisation } = manifest;
  if (organisation === undefined) throw damaged('it has no organisation');
  const keys = { ...options.keys, given: [...options.keys.given, ...includedKeys(manifest)] };
  await requireKeys(keys, manifest.secret_key_ids);
  return await db.copying(async (session) => {
    await requireSchema(session, manifest.schema_version);
    await beginLong(session, 'WRITE');
    const contents = options.files === null ? null : new RestoredContents(db, options.files.store);
    try {
      await lockRestore(session);
      const tables = await createTables(
        session,
        matchTables(await listTables(session), manifest).map(({ name }) => name),
      );
      const name = options.name ?? organisation.name;
      await refuseTakenName(session, name);
      await contents?.requireSpace(manifest.files ?? NO_FILES, options.files?.freeDiskBytes ?? 0);
      // Once all rows are there, and before contents of files are written, whose rows say whose they are.
      const ids = once(async () => {
        const reserved = await reserveIds(db, session, manifest.sequences);
        if (options.keepsIds === true) refuseRenumbering(reserved.renumbered);
        return reserved;
      });
      const whose = async () => {
        const organisationId = organisation.id + ((await ids()).shifts.get('organisations') ?? 0);
        return { table: 'moved_files', organisationId } as const;
      };
      const steps = fileSteps(session, contents, whose, options.onProgress);
      const sums = await loadTables(
        session,
        entries,
        { copies: tables, opened, ...steps },
        options.onProgress,
      );
      const { shifts, renumbered } = await ids();
      const { former, unproved, revokedKeys } = await mapAccounts(session, shifts);
      await changeReferences(session, shifts);
      await renumberFlows(session, options.registry, renumbered);
      const demoted = await demote(session);
      const id = organisation.id + (shifts.get('organisations') ?? 0);
      await keepFormerIds(session, id, renumbered);
      await resealMoved(session, keys, organisation.id, { former, shifts });
      await session.query(
        'UPDATE moved_organisations SET name = $2, paused_at = CASE WHEN $1 THEN coalesce(paused_at, now()) END',
        [options.isPaused, name],
      );
      await contents?.makeWay(session);
      await insertMoved(session, tables);
      const details = {
        former_id: organisation.id,
        made_at: manifest.made_at,
        ...(renumbered.length === 0
          ? {}
          : { added_to_ids: Object.fromEntries(renumbered.map(({ kind, shift }) => [kind, shift])) }),
      };
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
      const moved = { id, name, accounts: former.size, demoted, unproved, revokedKeys, renumbered };
      return {
        manifest,
        tables: sums,
        migrated: [],
        files: contents?.files ?? 0,
        requeued: 0,
        organisation: moved,
      };
    } catch (error) {
      await session.query('ROLLBACK').catch(() => {});
      await contents?.undo();
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

async function refuseTakenName(session: Queryable, name: string): Promise<void> {
  const taken = await session.query('SELECT FROM organisations WHERE name = $1', [name]);
  if (taken.length === 0) return;
  throw new BackupError(
    'restore_clash',
    `This instance already has an organisation named "${name}". If it isn't this one, give another name with --name. Nothing was restored.`,
  );
}

function refuseRenumbering(renumbered: readonly Renumbering[]): void {
  if (renumbered.length === 0) return;
  const kinds = renumbered.map(({ kind }) => kind).join(', ');
  throw new BackupError(
    'restore_clash',
    `This instance has already given out ids as large as those of its ${kinds}, so they can't be kept. Without --keep-ids they get others, and requests with the former ones still find them. Nothing was restored.`,
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
