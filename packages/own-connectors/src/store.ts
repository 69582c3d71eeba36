import type { Queryable } from '@millrace/database/database';
import { takeLock } from '@millrace/database/locks';
import { queryRow } from '@millrace/database/query-row';

/** A revision that node types are made from; `file_hash` tells its content, which never changes. */
export interface RevisionRef {
  readonly name: string;
  readonly revision: number;
  readonly file_hash: Buffer;
}

/** A connector with its newest revision. */
export interface ConnectorRow {
  readonly name: string;
  readonly title: string;
  readonly revision: number;
  readonly bytes: number;
  readonly operations: number;
  readonly triggers: number;
  readonly uploaded_at: Date;
  /** Null: the operator, or somebody whose account is gone. */
  readonly uploaded_by: string | null;
  /** Workflows that aren't archived whose saved version has it. */
  readonly workflows: number;
  /** Of those, the ones with an earlier revision. */
  readonly outdated: number;
}

/** The newest revisions of an organisation's connectors. */
export function listNewest(tx: Queryable, organisationId: number): Promise<RevisionRef[]> {
  return tx.query<RevisionRef>(
    `SELECT c.name, c.revision, r.file_hash FROM own_connectors c
     JOIN own_connector_revisions r USING (organisation_id, name, revision)
     WHERE c.organisation_id = $1 AND c.deleted_at IS NULL ORDER BY c.name`,
    [organisationId],
  );
}

/** A connector as a version of a workflow knows it. */
export interface VersionRevision extends RevisionRef {
  readonly organisation_id: number;
  /** Whether the version was saved with this revision; otherwise it is the newest. */
  readonly is_pinned: boolean;
  readonly is_deleted: boolean;
}

/** Of these connectors, the revisions with which a version was saved, else the newest. */
export function listOfVersion(
  db: Queryable,
  version: { readonly workflowId: number; readonly version: number },
  names: readonly string[],
): Promise<VersionRevision[]> {
  return db.query<VersionRevision>(
    `SELECT c.organisation_id, c.name, r.revision, r.file_hash, p.revision IS NOT NULL AS is_pinned, c.deleted_at IS NOT NULL AS is_deleted
     FROM workflow_versions v
     JOIN own_connectors c ON c.organisation_id = v.organisation_id AND c.name = ANY ($3::text[])
     LEFT JOIN workflow_connectors p ON p.workflow_id = v.workflow_id AND p.version = v.version AND p.name = c.name
     JOIN own_connector_revisions r ON r.organisation_id = c.organisation_id AND r.name = c.name
       AND r.revision = coalesce(p.revision, c.revision)
     WHERE v.workflow_id = $1 AND v.version = $2`,
    [version.workflowId, version.version, names],
  );
}

/** The files of revisions. */
export function listFiles(
  db: Queryable,
  organisationId: number,
  revisions: readonly RevisionRef[],
): Promise<{ readonly file_hash: Buffer; readonly file: string }[]> {
  return db.query(
    `SELECT r.file_hash, r.file FROM unnest($2::text[], $3::integer[]) AS k (name, revision)
     JOIN own_connector_revisions r ON r.organisation_id = $1 AND r.name = k.name AND r.revision = k.revision`,
    [organisationId, revisions.map(({ name }) => name), revisions.map(({ revision }) => revision)],
  );
}

/** Records with which revisions a version runs; what is recorded stays. */
export async function insertPins(
  tx: Queryable,
  organisationId: number,
  version: { readonly workflowId: number; readonly version: number },
  revisions: readonly Pick<RevisionRef, 'name' | 'revision'>[],
): Promise<void> {
  await tx.query(
    `INSERT INTO workflow_connectors (workflow_id, version, name, organisation_id, revision)
     SELECT $1, $2, name, $3, revision FROM unnest($4::text[], $5::integer[]) AS p (name, revision)
     ON CONFLICT DO NOTHING`,
    [
      version.workflowId,
      version.version,
      organisationId,
      revisions.map(({ name }) => name),
      revisions.map(({ revision }) => revision),
    ],
  );
}

/** Gives a version the revisions of another one of the same workflow. */
export async function copyPins(tx: Queryable, workflowId: number, from: number, to: number): Promise<void> {
  await tx.query(
    `INSERT INTO workflow_connectors (workflow_id, version, name, organisation_id, revision)
     SELECT workflow_id, $3, name, organisation_id, revision FROM workflow_connectors
     WHERE workflow_id = $1 AND version = $2`,
    [workflowId, from, to],
  );
}

/** Changes to an organisation's connectors come one after the other. */
export function lockConnectors(tx: Queryable, organisationId: number): Promise<void> {
  return takeLock(tx, 'own connectors', organisationId);
}

/** What an organisation has besides one connector, and all that is stored. */
export interface Usage {
  readonly others: number;
  readonly other_bytes: number;
  readonly stored_bytes: number;
}

export function readUsage(tx: Queryable, organisationId: number, name: string): Promise<Usage> {
  return queryRow<Usage>(
    tx,
    `SELECT count(*) FILTER (WHERE r.revision = c.revision AND c.deleted_at IS NULL AND c.name <> $2)::integer AS others,
       coalesce(sum(r.bytes) FILTER (WHERE r.revision = c.revision AND c.deleted_at IS NULL AND c.name <> $2), 0)::integer AS other_bytes,
       coalesce(sum(r.bytes), 0)::integer AS stored_bytes
     FROM own_connectors c JOIN own_connector_revisions r USING (organisation_id, name)
     WHERE c.organisation_id = $1`,
    [organisationId, name],
  );
}

export interface StoredConnector {
  readonly revision: number;
  readonly is_deleted: boolean;
  readonly file_hash: Buffer;
}

/** A connector, also a deleted one. */
export async function findConnector(
  tx: Queryable,
  organisationId: number,
  name: string,
): Promise<StoredConnector | undefined> {
  const [row] = await tx.query<StoredConnector>(
    `SELECT c.revision, c.deleted_at IS NOT NULL AS is_deleted, r.file_hash FROM own_connectors c
     JOIN own_connector_revisions r USING (organisation_id, name, revision)
     WHERE c.organisation_id = $1 AND c.name = $2`,
    [organisationId, name],
  );
  return row;
}

export interface NewRevision {
  readonly organisationId: number;
  readonly name: string;
  readonly revision: number;
  readonly title: string;
  readonly file: string;
  readonly hash: Buffer;
  readonly bytes: number;
  readonly operations: number;
  readonly triggers: number;
  readonly userId: number | null;
}

/** Stores a revision as the newest. */
export async function insertRevision(tx: Queryable, revision: NewRevision): Promise<void> {
  const { organisationId, name } = revision;
  await tx.query(
    `WITH c AS (
       INSERT INTO own_connectors (organisation_id, name, revision) VALUES ($1, $2, $3)
       ON CONFLICT (organisation_id, name) DO UPDATE SET revision = $3, deleted_at = NULL
     )
     INSERT INTO own_connector_revisions
       (organisation_id, name, revision, title, file, file_hash, bytes, operations, triggers, user_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      organisationId,
      name,
      revision.revision,
      revision.title,
      revision.file,
      revision.hash,
      revision.bytes,
      revision.operations,
      revision.triggers,
      revision.userId,
    ],
  );
}

/** Deletes earlier revisions that no version was saved with. A day later, so that none is in use by a request that saves one. */
export async function pruneRevisions(tx: Queryable, organisationId: number): Promise<void> {
  await tx.query(
    `DELETE FROM own_connector_revisions r USING own_connectors c
     WHERE r.organisation_id = $1 AND c.organisation_id = r.organisation_id AND c.name = r.name
       AND r.revision < c.revision AND r.created_at < now() - interval '1 day'
       AND NOT EXISTS (SELECT FROM workflow_connectors p
         WHERE p.organisation_id = r.organisation_id AND p.name = r.name AND p.revision = r.revision)`,
    [organisationId],
  );
}

/**
 * Workflows that aren't archived whose saved version has the connector, by id.
 * @param options.before only those with a revision before this one
 * @param options.after only those after this id
 */
export function listUsers(
  tx: Queryable,
  organisationId: number,
  name: string,
  { before, after = 0, limit }: { readonly before?: number; readonly after?: number; readonly limit: number },
): Promise<{ readonly id: number; readonly name: string }[]> {
  return tx.query(
    `SELECT w.id, w.name FROM workflow_connectors p
     JOIN workflows w ON w.id = p.workflow_id AND w.version = p.version
     WHERE p.organisation_id = $1 AND p.name = $2 AND w.status <> 'archived'
       AND ($4::integer IS NULL OR p.revision < $4) AND w.id > $5 ORDER BY w.id LIMIT $3`,
    [organisationId, name, limit, before ?? null, after],
  );
}

export async function markDeleted(tx: Queryable, organisationId: number, name: string): Promise<void> {
  await tx.query(`UPDATE own_connectors SET deleted_at = now() WHERE organisation_id = $1 AND name = $2`, [
    organisationId,
    name,
  ]);
}

/** An organisation's connectors by name. */
export function listConnectors(tx: Queryable, organisationId: number): Promise<ConnectorRow[]> {
  return tx.query<ConnectorRow>(
    `SELECT c.name, r.title, c.revision, r.bytes, r.operations, r.triggers, r.created_at AS uploaded_at,
       u.email AS uploaded_by, n.workflows, n.outdated
     FROM own_connectors c
     JOIN own_connector_revisions r USING (organisation_id, name, revision)
     LEFT JOIN users u ON u.id = r.user_id
     CROSS JOIN LATERAL (
       SELECT count(*)::integer AS workflows, (count(*) FILTER (WHERE p.revision < c.revision))::integer AS outdated
       FROM workflow_connectors p JOIN workflows w ON w.id = p.workflow_id AND w.version = p.version
       WHERE p.organisation_id = c.organisation_id AND p.name = c.name AND w.status <> 'archived') n
     WHERE c.organisation_id = $1 AND c.deleted_at IS NULL ORDER BY c.name`,
    [organisationId],
  );
}

/** The newest file of a connector, as it was uploaded. */
export async function findFile(
  tx: Queryable,
  organisationId: number,
  name: string,
): Promise<{ readonly file: string; readonly revision: number } | undefined> {
  const [row] = await tx.query<{ file: string; revision: number }>(
    `SELECT r.file, r.revision FROM own_connectors c JOIN own_connector_revisions r USING (organisation_id, name, revision)
     WHERE c.organisation_id = $1 AND c.name = $2 AND c.deleted_at IS NULL`,
    [organisationId, name],
  );
  return row;
}
