import type { StoragePart } from '@millrace/admin-api';
import { notFound } from '@millrace/errors/errors';
import type { StorageLimits } from '@millrace/service/settings';
import { findStorage, listStorage, type StorageRow } from '@millrace/service/storage/store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';

/** Organisations shown on the system page. */
const MAX_ORGANISATIONS = 10;

/** What organisations store. */
export function storageRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db, config } = deps;
  const settings = { ...config.storage, filesBytes: config.files.organisationBytes };

  adminRoute(app, deps, 'GET /system/storage', async () => ({
    items: (await listStorage(db, MAX_ORGANISATIONS)).map((row) => ({
      organisation: { id: row.organisation_id, name: row.name },
      parts: present(row, settings),
    })),
  }));

  adminRoute(app, deps, 'GET /orgs/:org/storage', async ({ organisation: { id } }) => {
    const row = await db.forOrganisation(id, (tx) => findStorage(tx, id));
    if (row === undefined) throw notFound('organisation');
    return { parts: present(row, settings) };
  });
}

function present(row: StorageRow, { executionsBytes, dataBytes, filesBytes }: StorageLimits): StoragePart[] {
  const limits = {
    executions: (row.executions_limit ?? executionsBytes) || null,
    data: (row.data_limit ?? dataBytes) || null,
  };
  return [
    { part: 'executions', bytes: Math.max(row.executions_bytes, 0), limit_bytes: limits.executions },
    { part: 'data', bytes: Math.max(row.data_bytes, 0), limit_bytes: limits.data },
    { part: 'files', bytes: row.files_bytes, limit_bytes: filesBytes || null },
  ];
}
