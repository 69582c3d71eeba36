import type { Draft } from '@millrace/admin-api';
import { type JsonObject, parseJson, stringifyJson } from '@millrace/engine';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app.ts';
import type { Queryable } from '../../db/database.ts';
import { ApiError, validationError } from '../../errors.ts';
import { adminRoute } from '../../http/admin/route.ts';
import { pathId } from '../../http/ids.ts';
import { formatTimestamp } from '../../http/timestamp.ts';
import { requireWorkflow, type Viewer, viewerOf } from '../workflows/admin-detail.ts';
import { checkFlowData } from '../workflows/flow-check.ts';
import { archivedError } from '../workflows/rules.ts';
import { type DraftRow, deleteDraft, findDraft, insertDraft, updateDraft } from './store.ts';

/** The draft of whoever asks: nobody else's can be named. */
export function draftRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;

  adminRoute(app, deps, 'GET /orgs/:org/workflows/:id/draft', async ({ organisation, session, params }) => {
    const id = pathId(params.id, 'workflow');
    const viewer = viewerOf(session, organisation.id, deps);
    return db.forOrganisation(organisation.id, async (tx) => {
      await requireWorkflow(tx, organisation.id, id);
      return { draft: await describeDraft(tx, viewer, id) };
    });
  });

  adminRoute(app, deps, 'PUT /orgs/:org/workflows/:id/draft', async (call) => {
    const { organisation, session, body } = call;
    const id = pathId(call.params.id, 'workflow');
    const viewer = viewerOf(session, organisation.id, deps);
    const { flow_data: flow, base_version: baseVersion, revision } = body;
    return db.forOrganisation(organisation.id, async (tx) => {
      const workflow = await requireWorkflow(tx, organisation.id, id);
      if (workflow.status === 'archived') throw archivedError();
      if (baseVersion > workflow.version) throw noSuchBase();
      const change = {
        organisationId: organisation.id,
        workflowId: id,
        userId: session.userId,
        flowData: stringifyJson(flow),
        baseVersion,
        revision,
      };
      const stored = await (revision === 0 ? insertDraft(tx, change) : updateDraft(tx, change));
      if (stored === undefined) throw conflict(await describeDraft(tx, viewer, id));
      const check = await checkFlowData(tx, organisation.id, flow, viewer.check);
      return { revision: stored.revision, updated_at: formatTimestamp(stored.updated_at), ...check };
    });
  });

  adminRoute(
    app,
    deps,
    'DELETE /orgs/:org/workflows/:id/draft',
    async ({ organisation, session, params }) => {
      const id = pathId(params.id, 'workflow');
      await db.forOrganisation(organisation.id, async (tx) => {
        await requireWorkflow(tx, organisation.id, id);
        await deleteDraft(tx, id, session.userId);
      });
      return undefined;
    },
  );
}

async function describeDraft(tx: Queryable, viewer: Viewer, workflowId: number): Promise<Draft | null> {
  const row = await findDraft(tx, workflowId, viewer.userId);
  return row === undefined ? null : present(tx, viewer, row);
}

async function present(tx: Queryable, viewer: Viewer, row: DraftRow): Promise<Draft> {
  const flow = parseJson(row.flow_data) as JsonObject;
  return {
    flow_data: flow,
    base_version: row.base_version,
    revision: row.revision,
    updated_at: formatTimestamp(row.updated_at),
    ...(await checkFlowData(tx, viewer.organisationId, flow, viewer.check)),
  };
}

function conflict(draft: Draft | null): ApiError {
  const detail =
    draft === null
      ? 'The draft was saved or thrown away in another tab. Begin a new one with revision 0.'
      : 'The draft was changed in another tab. Compare both, then go on from the present revision.';
  return new ApiError('draft_conflict', detail, {
    members: { draft: draft as unknown as JsonObject | null },
  });
}

function noSuchBase(): ApiError {
  const message = 'is higher than the saved version; name the version that the draft was made from';
  return validationError([{ pointer: '/base_version', code: 'invalid_value', message }]);
}
