import { pathId } from '@millrace/http/ids';
import { addFolder, changeFolder, removeFolder } from '@millrace/service/folders/folders';
import { listFolders } from '@millrace/service/folders/store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';

/** The folders that an organisation sorts its workflows into. */
export function folderRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db, config } = deps;
  const limit = config.limits.folders;

  adminRoute(app, deps, 'GET /orgs/:org/folders', async ({ organisation: { id } }) => ({
    items: await db.forOrganisation(id, (tx) => listFolders(tx, id)),
  }));

  adminRoute(app, deps, 'POST /orgs/:org/folders', ({ organisation: { id }, actor, body }) =>
    addFolder({ db, limit }, id, { name: body.name, parent_id: body.parent_id ?? null }, actor),
  );

  adminRoute(app, deps, 'PATCH /orgs/:org/folders/:folder', ({ organisation: { id }, actor, params, body }) =>
    changeFolder(db, id, pathId(params.folder, 'folder'), body, actor),
  );

  adminRoute(app, deps, 'DELETE /orgs/:org/folders/:folder', ({ organisation: { id }, actor, params }) =>
    removeFolder(db, id, pathId(params.folder, 'folder'), actor),
  );
}
