import { ApiError } from '@millrace/errors/errors';
import { pathId } from '@millrace/http/ids';
import { message } from '@millrace/messages';
import {
  countFavourites,
  deleteFavourite,
  insertFavourite,
  lockFavourites,
} from '@millrace/service/favourites/store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';
import { requireWorkflow } from './detail.ts';

/** Marking a workflow as a favourite. Nobody else sees it, so nothing is recorded. */
export function addFavouriteRoute(app: FastifyInstance, deps: AppDeps): void {
  const { db, config } = deps;
  const limit = config.limits.favourites;

  adminRoute(app, deps, 'PUT /orgs/:org/workflows/:id/favourite', async (call) => {
    const { organisation, session, body } = call;
    const id = pathId(call.params.id, 'workflow');
    await db.forOrganisation(organisation.id, async (tx) => {
      await requireWorkflow(tx, organisation.id, id);
      await deleteFavourite(tx, organisation.id, session.userId, id);
      if (!body.is_favourite) return;
      await lockFavourites(tx, session.userId);
      if ((await countFavourites(tx, organisation.id, session.userId)) >= limit) {
        throw new ApiError('too_many_favourites', message('service.too_many_favourites', { max: limit }));
      }
      await insertFavourite(tx, organisation.id, session.userId, id);
    });
  });
}
