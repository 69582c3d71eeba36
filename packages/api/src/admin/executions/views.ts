import { type ExecutionView, isAtLeast, type Role } from '@millrace/admin-api';
import { parseJson, stringifyJson } from '@millrace/engine';
import { pathId } from '@millrace/http/ids';
import { insufficientRole } from '@millrace/identity/values/roles';
import { listViews, type ViewRow } from '@millrace/service/executions/view-store';
import { removeView, saveView } from '@millrace/service/executions/views';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';

/** Saved filters for the list of executions. Other people's are found only if they are shared. */
export function executionViewRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;

  adminRoute(app, deps, 'GET /orgs/:org/execution-views', async ({ organisation: { id, role }, session }) => {
    const rows = await db.forOrganisation(id, (tx) => listViews(tx, id, session.userId));
    return { items: rows.map((row) => present(row, session.userId, role)) };
  });

  adminRoute(
    app,
    deps,
    'POST /orgs/:org/execution-views',
    async ({ organisation: { id, role }, session, body }) => {
      if (body.is_shared && !isAtLeast(role, 'editor')) throw insufficientRole('editor', role);
      const row = await saveView(db, id, {
        user_id: session.userId,
        name: body.name.trim(),
        is_shared: body.is_shared,
        filters: stringifyJson(body.filters),
      });
      return present(row, session.userId, role);
    },
  );

  adminRoute(
    app,
    deps,
    'DELETE /orgs/:org/execution-views/:view',
    async ({ organisation: { id, role }, session, params }) => {
      const mayDeleteShared = isAtLeast(role, 'org_admin');
      await removeView(db, id, pathId(params.view, 'view'), { userId: session.userId, mayDeleteShared });
    },
  );
}

function present(row: ViewRow, userId: number, role: Role): ExecutionView {
  const isOwn = row.user_id === userId;
  return {
    id: row.id,
    name: row.name,
    is_shared: row.is_shared,
    filters: parseJson(row.filters) as ExecutionView['filters'],
    is_own: isOwn,
    may_delete: isOwn || isAtLeast(role, 'org_admin'),
  };
}
