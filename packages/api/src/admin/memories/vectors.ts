import { createCursors } from '@millrace/http/pagination';
import { deleteVectors, presentCollection, readItems, readItemText } from '@millrace/service/ai-data/ai-data';
import { listCollections } from '@millrace/service/ai-data/store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';
import type { RecordedCall } from '../workflows/origin.ts';

const DEFAULT_LIMIT = 50;

/** Texts that are stored with their vectors. */
export function vectorRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;
  const cursors = createCursors(db);

  adminRoute(app, deps, 'GET /orgs/:org/vector-collections', async ({ organisation: { id } }) => {
    const rows = await db.forOrganisation(id, (tx) => listCollections(tx, id));
    return { items: rows.map(presentCollection) };
  });

  adminRoute(app, deps, 'GET /orgs/:org/vector-items', async ({ organisation: { id }, query }) => {
    const { collection, cursor, limit = DEFAULT_LIMIT } = query;
    const search = query.search?.trim() ?? '';
    const binding = { organisationId: id, endpoint: 'vector-items', filters: { collection, search } };
    const after = cursor === undefined ? '' : (await cursors.decodePosition(cursor, binding)).key;
    const { items, end } = await readItems(db, id, { collection, search, after, limit });
    return {
      items: [...items],
      next_cursor: end === null ? null : await cursors.encode(0, binding, end),
    };
  });

  adminRoute(app, deps, 'GET /orgs/:org/vector-items/text', async ({ organisation: { id }, query }) => ({
    text: await readItemText(db, id, query),
  }));

  adminRoute(app, deps, 'POST /orgs/:org/vector-collections/delete', async (call) => ({
    deleted: await deleteVectors(db, deletionBy(call), call.body.name, null),
  }));

  adminRoute(app, deps, 'POST /orgs/:org/vector-items/delete', async (call) => ({
    deleted: await deleteVectors(db, deletionBy(call), call.body.collection, call.body.key),
  }));
}

function deletionBy({ organisation, actor }: RecordedCall) {
  return { organisationId: organisation.id, by: actor };
}
