import { formatTimestamp, stringifyJson } from '@millrace/engine';
import { validationError } from '@millrace/errors/errors';
import { pathId } from '@millrace/http/ids';
import { message } from '@millrace/messages';
import { deleteDraft, insertDraft, updateDraft } from '@millrace/service/drafts/store';
import { checkFlowData } from '@millrace/service/workflows/flow-check';
import { archivedError } from '@millrace/service/workflows/rules';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';
import { requireWorkflow, viewerOf } from '../workflows/detail.ts';
import { describeDraft, draftConflict } from '../workflows/draft.ts';

/** Drafts of the current user; those of others can't be addressed. */
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
      if (stored === undefined) throw draftConflict(await describeDraft(tx, viewer, id));
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
    },
  );
}

function noSuchBase(): Error {
  const fault = message('api.draft_base_too_high');
  return validationError([{ pointer: '/base_version', code: 'invalid_value', message: fault }]);
}
