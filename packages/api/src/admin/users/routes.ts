import type { Account } from '@millrace/admin-api';
import { pathId } from '@millrace/http/ids';
import { removeAccount } from '@millrace/identity/accounts/removal';
import { type AccountRow, listAccountsBelow } from '@millrace/identity/accounts/removal-store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { createReadPage } from '../http/list.ts';
import { adminRoute } from '../http/route.ts';
import { clearCookie } from '../http/session.ts';

/** All accounts of the service, for system administrators. */
export function userRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db, config } = deps;
  const readPage = createReadPage(deps);

  adminRoute(app, deps, 'GET /users', (call) => {
    const filters = { search: call.query.search?.trim() || null };
    return readPage(call, {
      filters,
      read: (belowId, limit) => listAccountsBelow(db, filters.search, belowId, limit),
      present,
    });
  });

  adminRoute(app, deps, 'DELETE /users/:user', async ({ session, actor, params, request, reply }) => {
    const id = pathId(params.user, 'account');
    const removed = await removeAccount(db, id, actor);
    // The audit logs are those of the person's organisations; there may be none.
    request.log.info({ ...removed, removed_by: session.email }, 'account removed');
    if (id === session.userId) clearCookie(config, reply);
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
