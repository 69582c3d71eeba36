import type { SessionItem } from '@millrace/admin-api';
import { notFound } from '@millrace/errors/errors';
import { pathId } from '@millrace/http/ids';
import { originOf } from '@millrace/http/origin';
import {
  deleteSession,
  deleteSessions,
  listSessions,
  type SessionItemRow,
} from '@millrace/identity/sessions/store';
import { auditUser } from '@millrace/identity/users/audit';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';
import { clearCookie } from '../http/session.ts';
import type { Devices } from './devices.ts';
import { enter } from './enter.ts';
import type { Proofs } from './proofs.ts';

/** Signing in and out, and the list of a user's sessions. */
export function sessionRoutes(app: FastifyInstance, deps: AppDeps, devices: Devices, proofs: Proofs): void {
  const { db, config } = deps;

  adminRoute(app, deps, 'POST /sign-in', async ({ body, request, reply }) => {
    const user = await proofs.signIn(request, body);
    await enter(deps, devices, request, reply, user, 'password', (tx) => proofs.requireUnchanged(tx, user));
  });

  adminRoute(app, deps, 'POST /sign-out', async ({ session, request, reply }) => {
    const user = { id: session.userId, email: session.email };
    await db.transaction(async (tx) => {
      await deleteSession(tx, user.id, session.id);
      await auditUser(tx, user, { action: 'user.signed_out', ...originOf(request) });
    });
    clearCookie(config, reply);
  });

  adminRoute(app, deps, 'GET /me/sessions', async ({ session }) => {
    const rows = await listSessions(db, session.userId, config.sessions.idleMs);
    return { items: rows.map((row) => present(row, session.id)) };
  });

  adminRoute(app, deps, 'DELETE /me/sessions', async ({ session, request }) => {
    const user = { id: session.userId, email: session.email };
    await db.transaction(async (tx) => {
      const ended = await deleteSessions(tx, user.id, session.id);
      const details = { ended };
      await auditUser(tx, user, { action: 'session.others_ended', ...originOf(request), details });
    });
  });

  adminRoute(app, deps, 'DELETE /me/sessions/:session', async ({ session, params, request, reply }) => {
    const id = pathId(params.session, 'session');
    const user = { id: session.userId, email: session.email };
    await db.transaction(async (tx) => {
      if (!(await deleteSession(tx, user.id, id))) throw notFound('session');
      await auditUser(tx, user, { action: 'session.ended', ...originOf(request) });
    });
    if (id === session.id) clearCookie(config, reply);
  });
}

function present(row: SessionItemRow, currentId: number): SessionItem {
  return {
    id: row.id,
    is_current: row.id === currentId,
    created_at: row.created_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    source_ip: row.source_ip,
    user_agent: row.user_agent,
  };
}
