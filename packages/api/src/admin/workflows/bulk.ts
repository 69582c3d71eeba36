import { MAX_TAGS, type ResponseBody } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { ApiError, validationError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import { inEnglish } from '@millrace/messages/english';
import { requireFolder } from '@millrace/service/folders/folders';
import { moveWorkflows } from '@millrace/service/folders/store';
import { changeDetails } from '@millrace/service/workflows/record';
import { archiveWorkflow, changeWorkflow, readLockedWorkflow } from '@millrace/service/workflows/save';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { type AdminCall, adminRoute } from '../http/route.ts';
import { authorOf, recordWorkflow } from './origin.ts';

type Bulk = AdminCall<'POST /orgs/:org/workflow-changes'>;
type Refused = ResponseBody<'POST /orgs/:org/workflow-changes'>['refused'][number];

/** One change to several workflows. */
export function addBulkRoute(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;

  adminRoute(app, deps, 'POST /orgs/:org/workflow-changes', async (call) => {
    const { ids, change } = call.body;
    const { id: organisationId } = call.organisation;
    if (change.kind === 'move' && change.folder_id !== null) {
      const folderId = change.folder_id;
      await db.forOrganisation(organisationId, (tx) => requireFolder(tx, organisationId, folderId));
    }
    const refused: Refused[] = [];
    // A transaction each, so that a refused change doesn't undo the others, and nobody waits for all of them.
    for (const id of ids) {
      try {
        await db.forOrganisation(organisationId, (tx) => apply(tx, call, id, deps));
      } catch (error) {
        // Not found, archived, no longer valid: this concerns only this workflow.
        if (!(error instanceof ApiError) || error.status >= 500) throw error;
        refused.push(present(id, error));
      }
    }
    return { done: ids.length - refused.length, refused };
  });
}

async function apply(tx: Queryable, call: Bulk, id: number, deps: AppDeps): Promise<void> {
  const { change } = call.body;
  const { id: organisationId } = call.organisation;
  const author = authorOf(call.session, organisationId);
  const current = await readLockedWorkflow(tx, author, id);
  switch (change.kind) {
    case 'archive': {
      if ((await archiveWorkflow(tx, current)) === current) return;
      return recordWorkflow(tx, call, 'workflow.archived', id, { from_status: current.status });
    }
    case 'tag': {
      const kept = current.tags.filter((tag) => !change.remove.includes(tag));
      const tags = [...new Set([...kept, ...change.add])];
      if (tags.length > MAX_TAGS) throw tooManyTags();
      const row = await changeWorkflow(tx, author, current, { tags }, null, deps.registry);
      if (row === current) return;
      return recordWorkflow(tx, call, 'workflow.changed', id, changeDetails(current, row));
    }
    case 'move': {
      const folder =
        change.folder_id === null ? null : await requireFolder(tx, organisationId, change.folder_id);
      const [moved] = await moveWorkflows(tx, organisationId, [id], change.folder_id);
      if (moved === undefined) return;
      const details = { folder_id: change.folder_id, folder: folder?.name ?? null };
      return recordWorkflow(tx, call, 'workflow.moved', id, details);
    }
  }
}

function tooManyTags(): ApiError {
  const fault = message('api.too_many_tags', { max: MAX_TAGS });
  return validationError([{ pointer: '/change/add', code: 'too_many', message: fault }]);
}

/** With the error's own message if a value is at fault: that the request has an invalid value says nothing about this workflow. */
function present(id: number, { code, explanation, errors = [] }: ApiError): Refused {
  const { key, params = {} } = errors[0]?.message ?? explanation;
  return { id, code, message: inEnglish(explanation), key, params };
}
