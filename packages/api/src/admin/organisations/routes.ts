import type { Organisation } from '@millrace/admin-api';
import {
  createOrganisation,
  listOrganisationsBelow,
  type OrganisationRow,
  renameOrganisation,
} from '@millrace/identity/organisations/store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { createReadPage } from '../http/list.ts';
import { adminRoute } from '../http/route.ts';

/** Organisations: the list for system administrators, the name for org admins. */
export function organisationRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;
  const readPage = createReadPage(deps);

  adminRoute(app, deps, 'GET /organisations', (call) =>
    readPage(call, { read: (belowId, limit) => listOrganisationsBelow(db, belowId, limit), present }),
  );

  adminRoute(app, deps, 'POST /organisations', async ({ actor, body }) =>
    present(await createOrganisation(db, body.name, actor)),
  );

  adminRoute(app, deps, 'PATCH /orgs/:org', async ({ actor, organisation, body }) =>
    present(await renameOrganisation(db, organisation.id, body.name, actor)),
  );
}

function present(row: OrganisationRow): Organisation {
  return { id: row.id, name: row.name, created_at: row.created_at.toISOString() };
}
