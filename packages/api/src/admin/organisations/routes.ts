import type { Organisation } from '@millrace/admin-api';
import {
  createOrganisation,
  listOrganisationsBelow,
  type OrganisationRow,
  renameOrganisation,
} from '@millrace/identity/organisations/store';
import { toAdminError } from '@millrace/identity/values/account-error';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../http/app-deps.ts';
import { originOf } from '../../http/origin.ts';
import { createCursors } from '../../http/pagination.ts';
import { toAdminPage } from '../http/list.ts';
import { actorOf, adminRoute } from '../http/route.ts';

/** No organisation has this id: cursors of the list of all organisations are bound to it. */
const NO_ORGANISATION = 0;

/** Organisations: the list for system administrators, the name for org admins. */
export function organisationRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;
  const cursors = createCursors(db);

  adminRoute(app, deps, 'GET /organisations', async ({ query }) =>
    toAdminPage(
      cursors,
      { organisationId: NO_ORGANISATION, endpoint: 'GET organisations', filters: {} },
      query,
      { read: (belowId, limit) => listOrganisationsBelow(db, belowId, limit), present },
    ),
  );

  adminRoute(app, deps, 'POST /organisations', async ({ session, body, request }) =>
    createOrganisation(db, body.name, actorOf(session), originOf(request)).then(present, refuse),
  );

  adminRoute(app, deps, 'PATCH /orgs/:org', async ({ session, organisation, body, request }) =>
    renameOrganisation(db, organisation.id, body.name, actorOf(session), originOf(request)).then(
      present,
      refuse,
    ),
  );
}

function refuse(error: unknown): never {
  throw toAdminError(error, '/name');
}

function present(row: OrganisationRow): Organisation {
  return { id: row.id, name: row.name, created_at: row.created_at.toISOString() };
}
