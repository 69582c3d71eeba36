import type { Account } from '@millrace/admin-api';
import { removeAccount } from '@millrace/identity/accounts/removal';
import { type AccountRow, listAccountsBelow } from '@millrace/identity/accounts/removal-store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../http/app-deps.ts';
import { pathId } from '../../http/ids.ts';
import { originOf } from '../../http/origin.ts';
import { createCursors } from '../../http/pagination.ts';
import { toAdminPage } from '../http/list.ts';
import { actorOf, adminRoute } from '../http/route.ts';
import { clearCookie } from '../http/session.ts';

/** No organisation has this id: cursors of the list of all accounts are bound to it. */
const NO_ORGANISATION = 0;

/** All accounts of the service, for system administrators. */
export function userRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db, config } = deps;
  const cursors = createCursors(db);

  adminRoute(app, deps, 'GET /users', async ({ query }) => {
    const search = query.search?.trim() ?? '';
    const filters = { search: search === '' ? null : search };
    return toAdminPage(cursors, { organisationId: NO_ORGANISATION, endpoint: 'GET users', filters }, query, {
      read: (belowId, limit) => listAccountsBelow(db, filters.search, belowId, limit),
      present,
    });
  });

  adminRoute(app, deps, 'DELETE /users/:user', async ({ session, params, request, reply }) => {
    const id = pathId(params.user, 'account');
    const removed = await removeAccount(db, id, actorOf(session), originOf(request));
    // The audit logs are those of the person's organisations; there may be none.
    request.log.info({ ...removed, removed_by: session.email }, 'account removed');
    if (id === session.userId) clearCookie(config, reply);
    return undefined;
  });
}

function present({ created_at: createdAt, last_seen_at: lastSeenAt, ...row }: AccountRow): Account {
  return {
    ...row,
    organisations: [...row.organisations],
    last_seen_at: lastSeenAt?.toISOString() ?? null,
    created_at: createdAt.toISOString(),
  };
}
