import { notFound } from '@millrace/errors/errors';
import { principalOf } from '@millrace/http/context';
import { checkIfMatch, entityTag } from '@millrace/http/etag';
import { MAX_VERSION, pathId, pathVersion } from '@millrace/http/ids';
import { recordedByKey } from '@millrace/http/origin';
import { createCursors, toPage } from '@millrace/http/pagination';
import { HEADERS, response } from '@millrace/http/responses';
import { typesOfSaved } from '@millrace/own-connectors/types';
import { recordWorkflowChange } from '@millrace/service/workflows/record';
import { readLockedWorkflow, restoreVersion } from '@millrace/service/workflows/save';
import { findVersion, findWorkflow, listVersions } from '@millrace/service/workflows/store';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { AppDeps } from '../../app-deps.ts';
import { presentDetail, presentVersion, presentVersionDetail } from './present.ts';
import { EXAMPLES, ListVersionsQuery, NoMembers, VersionPage } from './schema.ts';

const ALL = '/api/v1/workflows/:id/versions';
const ONE = `${ALL}/:version`;

type OfWorkflow = { Params: { id: string } };
type OfVersion = { Params: { id: string; version: string } };

/** The history of a workflow: list, read, restore. */
export function versionRoutes(app: FastifyInstance, deps: AppDeps): void {
  addList(app, deps);
  addRead(app, deps);
  addRestore(app, deps);
}

function addList(app: FastifyInstance, { db }: AppDeps): void {
  const cursors = createCursors(db);
  const schema = {
    operationId: 'listVersions',
    summary: 'List the versions of a workflow, newest first',
    description: "Each change to `flow_data` creates one. The list doesn't include `flow_data`.",
    tags: ['Workflows'],
    querystring: ListVersionsQuery,
    response: { 200: response('A page of versions.', VersionPage, { example: EXAMPLES.versionPage }) },
  };
  const options = { config: { scope: 'workflows:read', extension: true }, schema } as const;
  app.get<OfWorkflow & { Querystring: ListVersionsQuery }>(ALL, options, async (request) => {
    const { organisationId } = principalOf(request);
    const { cursor, limit = 20 } = request.query;
    const id = pathId(request.params.id, 'workflow');
    const binding = { organisationId, endpoint: `GET /api/v1/workflows/${id}/versions`, filters: {} };
    const below = cursor === undefined ? MAX_VERSION : await cursors.decode(cursor, binding);
    const rows = await db.forOrganisation(organisationId, (tx) =>
      listVersions(tx, organisationId, id, below, limit + 1),
    );
    // A workflow always has a version, so an empty first page means that the workflow doesn't exist.
    if (rows.length === 0 && cursor === undefined) throw notFound('workflow');
    const numbered = rows.map((row) => ({ ...row, id: row.version }));
    return toPage(numbered, limit, presentVersion, cursors, binding);
  });
}

function addRead(app: FastifyInstance, { db }: AppDeps): void {
  const schema = {
    operationId: 'getVersion',
    summary: 'Get one version of a workflow',
    description: 'With the `flow_data` that was saved as this version. A version never changes.',
    tags: ['Workflows'],
    response: { 200: response('The version.', Type.Ref('VersionDetail#'), { example: EXAMPLES.version }) },
  };
  const options = { config: { scope: 'workflows:read', extension: true }, schema } as const;
  app.get<OfVersion>(ONE, options, async (request) => {
    const { organisationId } = principalOf(request);
    const id = pathId(request.params.id, 'workflow');
    const row = await db.forOrganisation(organisationId, async (tx) => {
      if ((await findWorkflow(tx, organisationId, id)) === undefined) throw notFound('workflow');
      return findVersion(tx, organisationId, id, pathVersion(request.params.version));
    });
    if (row === undefined) throw notFound('version');
    return presentVersionDetail(id, row);
  });
}

function addRestore(app: FastifyInstance, { db, registry }: AppDeps): void {
  const schema = {
    operationId: 'restoreVersion',
    summary: 'Restore an earlier version',
    description: 'Appends a version that repeats the earlier one; the history keeps both.',
    tags: ['Workflows'],
    body: NoMembers,
    response: {
      200: response('The workflow as it is now.', Type.Ref('WorkflowDetail#'), {
        example: EXAMPLES.detail,
        headers: { ETag: HEADERS.etag },
      }),
    },
  };
  const config = {
    scope: 'workflows:write',
    extension: true,
    conditional: true,
    emptyBodyIsObject: true,
    problems: ['workflow_archived'],
  } as const;
  app.post<OfVersion>(`${ONE}/restore`, { config, schema }, async (request, reply) => {
    const principal = principalOf(request);
    const id = pathId(request.params.id, 'workflow');
    const row = await db.forOrganisation(principal.organisationId, async (tx) => {
      const current = await readLockedWorkflow(tx, principal, id);
      const version = pathVersion(request.params.version);
      checkIfMatch(request, entityTag(current.version, current.updated_at));
      const restored = await restoreVersion(tx, principal, current, version, registry);
      const details = { version: restored.version, restored_from: version };
      await recordWorkflowChange(tx, recordedByKey(request), 'workflow.version_restored', id, details);
      return restored;
    });
    reply.header('etag', entityTag(row.version, row.updated_at));
    return presentDetail(row, await typesOfSaved(registry, db, principal.organisationId, row));
  });
}
