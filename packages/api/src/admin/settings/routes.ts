import type { OrganisationSettings } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { changeSettings } from '@millrace/service/settings/change';
import { findOrganisationName, findSettings } from '@millrace/service/settings/store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';

/** An organisation's own settings, within the limits of the service. */
export function settingsRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db, config } = deps;

  adminRoute(app, deps, 'GET /orgs/:org/settings', async ({ organisation: { id } }) =>
    db.forOrganisation(id, (tx) => readSettings(tx, id, config)),
  );

  adminRoute(app, deps, 'PATCH /orgs/:org/settings', async ({ organisation: { id }, actor, body }) => {
    await changeSettings(db, id, body, config, actor);
    return db.forOrganisation(id, (tx) => readSettings(tx, id, config));
  });

  adminRoute(app, deps, 'GET /orgs/:org/defaults', async ({ organisation: { id } }) => {
    const { time_zone } = await db.forOrganisation(id, (tx) => findSettings(tx, id));
    return { time_zone };
  });
}

async function readSettings(
  tx: Queryable,
  id: number,
  { retention, limits, allowHosts }: AppDeps['config'],
): Promise<OrganisationSettings> {
  const row = await findSettings(tx, id);
  return {
    name: await findOrganisationName(tx, id),
    time_zone: row.time_zone,
    retention_days: {
      completed: row.retention_days_completed,
      failed: row.retention_days_failed,
      cancelled: row.retention_days_cancelled,
    },
    requests_per_minute: row.requests_per_minute,
    allowed_hosts: row.allowed_hosts === null ? null : [...row.allowed_hosts],
    error_workflow_id: row.error_workflow_id,
    service: {
      retention_days: { ...retention.executionsDays },
      requests_per_minute_per_key: limits.requestsPerMinutePerKey,
      audit_days: retention.auditDays,
      allowed_hosts: [...allowHosts],
    },
  };
}
