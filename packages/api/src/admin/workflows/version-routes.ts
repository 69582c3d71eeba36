import { type JsonObject, type JsonValue, parseJson } from '@millrace/engine';
import { notFound } from '@millrace/errors/errors';
import { MAX_VERSION, pathId, pathVersion } from '@millrace/http/ids';
import { typesForNewFlow } from '@millrace/own-connectors/types';
import { deleteDraft } from '@millrace/service/drafts/store';
import { findFolderPath } from '@millrace/service/folders/store';
import { findVersionItem, listVersionItems, setPinned } from '@millrace/service/workflows/admin-store';
import { checkFlow } from '@millrace/service/workflows/rules';
import { changeWorkflow, readLockedWorkflow, restoreVersion } from '@millrace/service/workflows/save';
import type { WorkflowDetailRow } from '@millrace/service/workflows/store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { createReadPage } from '../http/list.ts';
import { adminRoute } from '../http/route.ts';
import { describeVersion, describeWorkflow, refuseStaleBase, requireWorkflow, viewerOf } from './detail.ts';
import { refuseUnseenDraft } from './draft.ts';
import { authorOf, recordWorkflow } from './origin.ts';
import { presentVersionItem } from './present.ts';

/** Saving, and the version history. */
export function adminVersionRoutes(app: FastifyInstance, deps: AppDeps): void {
  addSave(app, deps);
  addHistory(app, deps);
  addRestore(app, deps);
  addPin(app, deps);
  addExport(app, deps);
}

function addSave(app: FastifyInstance, deps: AppDeps): void {
  const { db, registry, config } = deps;

  adminRoute(app, deps, 'POST /orgs/:org/workflows/:id/versions', async (call) => {
    const { organisation, session, body } = call;
    const id = pathId(call.params.id, 'workflow');
    const viewer = viewerOf(session, organisation.id, deps);
    const flowData = body.flow_data as JsonValue;
    const types = await typesForNewFlow(registry, db, organisation.id, flowData);
    const flow = checkFlow(flowData, types, config.limits.nodes);
    return db.forOrganisation(organisation.id, async (tx) => {
      const author = authorOf(session, organisation.id, body.message);
      const current = await readLockedWorkflow(tx, author, id);
      await refuseStaleBase(tx, viewer, current, body.base_version);
      if (body.draft_revision !== undefined) await refuseUnseenDraft(tx, viewer, id, body.draft_revision);
      const row = await changeWorkflow(tx, author, current, {}, flow, types);
      await deleteDraft(tx, id, session.userId, body.draft_revision);
      if (row !== current) await recordWorkflow(tx, call, 'workflow.saved', id, { version: row.version });
      return describeWorkflow(tx, viewer, row);
    });
  });
}

function addHistory(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;
  const readPage = createReadPage(deps);

  adminRoute(app, deps, 'GET /orgs/:org/workflows/:id/versions', async (call) => {
    const { organisation, session, query } = call;
    const { pinned: onlyPinned = false } = query;
    const id = pathId(call.params.id, 'workflow');
    return db.forOrganisation(organisation.id, async (tx) => {
      const { version: current } = await requireWorkflow(tx, organisation.id, id);
      return readPage(call, {
        filters: { pinned: String(onlyPinned) },
        read: async (belowId, count) => {
          const below = belowId ?? MAX_VERSION;
          const rows = await listVersionItems(tx, organisation.id, id, { onlyPinned, below, count });
          return rows.map((row) => ({ ...row, id: row.version }));
        },
        present: (row) => presentVersionItem(row, { current, userId: session.userId }),
      });
    });
  });

  adminRoute(app, deps, 'GET /orgs/:org/workflows/:id/versions/:version', async (call) => {
    const { organisation, session, params } = call;
    const id = pathId(params.id, 'workflow');
    const viewer = viewerOf(session, organisation.id, deps);
    return db.forOrganisation(organisation.id, async (tx) => {
      const workflow = await requireWorkflow(tx, organisation.id, id);
      return describeVersion(tx, viewer, workflow, pathVersion(params.version));
    });
  });
}

function addRestore(app: FastifyInstance, deps: AppDeps): void {
  const { db, registry } = deps;

  adminRoute(app, deps, 'POST /orgs/:org/workflows/:id/versions/:version/restore', async (call) => {
    const { organisation, session, body, params } = call;
    const id = pathId(params.id, 'workflow');
    const viewer = viewerOf(session, organisation.id, deps);
    return db.forOrganisation(organisation.id, async (tx) => {
      const author = authorOf(session, organisation.id);
      const current = await readLockedWorkflow(tx, author, id);
      const version = pathVersion(params.version);
      await refuseStaleBase(tx, viewer, current, body.base_version);
      const row = await restoreVersion(tx, author, current, version, registry);
      if (body.discards_draft === true) await deleteDraft(tx, id, session.userId);
      const details = { version: row.version, restored_from: version };
      await recordWorkflow(tx, call, 'workflow.version_restored', id, details);
      return describeWorkflow(tx, viewer, row);
    });
  });
}

function addPin(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;

  adminRoute(app, deps, 'PUT /orgs/:org/workflows/:id/versions/:version/pin', async (call) => {
    const { organisation, session, params } = call;
    const { pinned } = call.body;
    const id = pathId(params.id, 'workflow');
    return db.forOrganisation(organisation.id, async (tx) => {
      const { version: current } = await requireWorkflow(tx, organisation.id, id);
      const version = pathVersion(params.version);
      if (await setPinned(tx, organisation.id, id, version, pinned)) {
        const action = pinned ? 'workflow.version_pinned' : 'workflow.version_unpinned';
        await recordWorkflow(tx, call, action, id, { version });
      }
      const row = await findVersionItem(tx, organisation.id, id, version);
      if (row === undefined) throw notFound('version');
      return presentVersionItem(row, { current, userId: session.userId });
    });
  });
}

function addExport(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;

  adminRoute(app, deps, 'GET /orgs/:org/workflows/:id/export', async (call) => {
    const { organisation, query, reply } = call;
    const id = pathId(call.params.id, 'workflow');
    const file = await db.forOrganisation(organisation.id, async (tx) => {
      const row = await requireWorkflow(tx, organisation.id, id);
      const folder = await findFolderPath(tx, organisation.id, id);
      if (query.version === undefined) return exportOf(row, row.flow_data, folder);
      const version = await findVersionItem(tx, organisation.id, id, query.version);
      if (version === undefined) throw notFound('version');
      return exportOf(row, version.flow_data, folder);
    });
    return reply
      .header('content-type', 'application/json; charset=utf-8')
      .header('content-disposition', `attachment; filename="workflow-${id}.json"`)
      .send(Buffer.from(`${JSON.stringify(file, null, 2)}\n`));
  });
}

/** Exactly what `POST /workflows` accepts: an imported workflow gets a new id and starts as a draft. */
function exportOf(row: WorkflowDetailRow, flowData: string, folder: readonly string[]): JsonObject {
  return {
    name: row.name,
    description: row.description,
    tags: row.tags,
    is_test_mode: row.is_test_mode,
    ...(folder.length === 0 ? {} : { folder }),
    flow_data: parseJson(flowData),
  };
}
