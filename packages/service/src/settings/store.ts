import type { Queryable } from '@millrace/database/database';

/** An organisation's own settings; null means the service's configuration applies. */
export interface SettingsRow {
  readonly time_zone: string | null;
  readonly retention_days_completed: number | null;
  readonly retention_days_failed: number | null;
  readonly retention_days_cancelled: number | null;
  readonly requests_per_minute: number | null;
  readonly allowed_hosts: readonly string[] | null;
  /** Started by failures of workflows that name no error workflow; null: nothing is. */
  readonly error_workflow_id: number | null;
}

const NOTHING: SettingsRow = {
  time_zone: null,
  retention_days_completed: null,
  retention_days_failed: null,
  retention_days_cancelled: null,
  requests_per_minute: null,
  allowed_hosts: null,
  error_workflow_id: null,
};

/** All null if the organisation has no settings of its own. */
export async function findSettings(db: Queryable, organisationId: number): Promise<SettingsRow> {
  const [row] = await db.query<SettingsRow>(
    `SELECT time_zone, retention_days_completed, retention_days_failed, retention_days_cancelled,
       requests_per_minute, allowed_hosts, error_workflow_id
     FROM organisation_settings WHERE organisation_id = $1`,
    [organisationId],
  );
  return row ?? NOTHING;
}

/** Locks the settings until the transaction ends. */
export async function lockSettings(tx: Queryable, organisationId: number): Promise<SettingsRow> {
  await tx.query(
    'INSERT INTO organisation_settings (organisation_id) VALUES ($1) ON CONFLICT (organisation_id) DO NOTHING',
    [organisationId],
  );
  await tx.query('SELECT FROM organisation_settings WHERE organisation_id = $1 FOR UPDATE', [organisationId]);
  return findSettings(tx, organisationId);
}

/** Overwrites the locked settings of an organisation. */
export async function updateSettings(
  tx: Queryable,
  organisationId: number,
  settings: SettingsRow,
): Promise<void> {
  await tx.query(
    `UPDATE organisation_settings SET time_zone = $2, retention_days_completed = $3, retention_days_failed = $4,
       retention_days_cancelled = $5, requests_per_minute = $6, allowed_hosts = $7, error_workflow_id = $8, updated_at = now()
     WHERE organisation_id = $1`,
    [
      organisationId,
      settings.time_zone,
      settings.retention_days_completed,
      settings.retention_days_failed,
      settings.retention_days_cancelled,
      settings.requests_per_minute,
      settings.allowed_hosts,
      settings.error_workflow_id,
    ],
  );
}

export async function findOrganisationName(db: Queryable, organisationId: number): Promise<string> {
  const [row] = await db.query<{ name: string }>('SELECT name FROM organisations WHERE id = $1', [
    organisationId,
  ]);
  if (row === undefined) throw new Error(`organisation ${organisationId} is gone although it has members`);
  return row.name;
}

/** The hosts that nodes of these organisations may call, for those that have a list. Queried on every call. */
export async function listAllowedHosts(
  db: Queryable,
  organisationIds: readonly number[],
): Promise<{ readonly organisation_id: number; readonly allowed_hosts: readonly string[] }[]> {
  return db.query(
    `SELECT organisation_id, allowed_hosts FROM organisation_settings
     WHERE organisation_id = ANY ($1::bigint[]) AND allowed_hosts IS NOT NULL`,
    [organisationIds],
    'list_allowed_hosts',
  );
}
