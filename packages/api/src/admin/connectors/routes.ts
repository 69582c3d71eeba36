import { japaneseTexts } from '@millrace/connectors/connectors';
import { notFound } from '@millrace/errors/errors';
import { inEnglish } from '@millrace/messages/english';
import {
  deleteConnector,
  findFile,
  listConnectors,
  readUpload,
  uploadConnector,
} from '@millrace/own-connectors/connectors';
import { isConnectorName } from '@millrace/own-connectors/names';
import { ownTypes } from '@millrace/own-connectors/types';
import { renewWorkflows } from '@millrace/service/workflows/renew';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';
import { outlinesOf, presentOperation } from '../node-types/routes.ts';

/** The connectors that an organisation uploads. */
export function connectorRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db, registry } = deps;

  adminRoute(app, deps, 'GET /orgs/:org/connectors', async ({ organisation: { id } }) => {
    const rows = await db.forOrganisation(id, (tx) => listConnectors(tx, id));
    return { items: rows.map((row) => ({ ...row, uploaded_at: row.uploaded_at.toISOString() })) };
  });

  const typesOf = async (id: number, isWanted: (name: string) => boolean = () => true) => {
    const own = await db.forOrganisation(id, (tx) => ownTypes(tx, id, isWanted));
    return own.map(({ connector, nodes }) => ({
      items: nodes.map(presentOperation),
      ja: japaneseTexts([connector]),
    }));
  };
  adminRoute(app, deps, 'GET /orgs/:org/connector-types', async ({ organisation: { id } }) => ({
    items: await typesOf(id),
  }));
  adminRoute(app, deps, 'GET /orgs/:org/connector-types/outline', async ({ organisation: { id }, query }) => {
    const names = new Set(query.connectors.split(','));
    return { items: (await typesOf(id, (name) => names.has(name))).map(outlinesOf) };
  });

  adminRoute(app, deps, 'POST /orgs/:org/connectors', async ({ organisation: { id }, actor, body }) => {
    const { name, revision, isNew } = await uploadConnector(db, id, await readUpload(body.file, id), actor);
    return { name, revision, is_new: isNew };
  });

  adminRoute(
    app,
    deps,
    'GET /orgs/:org/connectors/:connector/file',
    async ({ organisation: { id }, params, reply }) => {
      const name = nameIn(params);
      const found = await db.forOrganisation(id, (tx) => findFile(tx, id, name));
      if (found === undefined) throw notFound('connector');
      return reply
        .header('content-type', 'application/json; charset=utf-8')
        .header('content-disposition', `attachment; filename="connector-${name}.json"`)
        .send(Buffer.from(found.file));
    },
  );

  adminRoute(
    app,
    deps,
    'POST /orgs/:org/connectors/:connector/workflows',
    async ({ organisation: { id }, actor, session, params, body }) => {
      const author = { organisationId: id, apiKeyId: null, userId: session.userId };
      const name = nameIn(params);
      const step = await renewWorkflows({ db, registry }, author, name, actor, body.after);
      const { saved, refused, next } = step;
      return {
        saved,
        next,
        refused: refused.map(({ workflow, error }) => {
          const { key, params: given = {} } = error.errors?.[0]?.message ?? error.explanation;
          return { ...workflow, code: error.code, message: inEnglish(error.explanation), key, params: given };
        }),
      };
    },
  );

  adminRoute(
    app,
    deps,
    'DELETE /orgs/:org/connectors/:connector',
    async ({ organisation: { id }, actor, params }) => {
      await deleteConnector(db, id, nameIn(params), actor);
    },
  );
}

/** @throws ApiError `not_found` */
function nameIn({ connector }: { readonly connector: string }): string {
  if (!isConnectorName(connector)) throw notFound('connector');
  return connector;
}
