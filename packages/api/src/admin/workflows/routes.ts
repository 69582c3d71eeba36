import type { Body } from '@millrace/admin-api';
import { WORKFLOW_STATUSES } from '@millrace/admin-api';
import { parseTimestamp } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { pathId } from '@millrace/http/ids';
import { message } from '@millrace/messages';
import { listRecentRuns, listTags } from '@millrace/service/workflows/admin-store';
import { checkFlowData } from '@millrace/service/workflows/flow-check';
import { listWorkflowItems, type WorkflowFilters } from '@millrace/service/workflows/list-store';
import { changeDetails } from '@millrace/service/workflows/record';
import { archiveWorkflow, changeWorkflow, readLockedWorkflow } from '@millrace/service/workflows/save';
import type { WorkflowDetailRow } from '@millrace/service/workflows/store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { createReadPage } from '../http/list.ts';
import { type AdminCall, adminRoute } from '../http/route.ts';
import { addBulkRoute } from './bulk.ts';
import { addCreateRoutes } from './create.ts';
import { addDeleteRoute } from './delete.ts';
import { describeWorkflow, requireWorkflow, viewerOf } from './detail.ts';
import { addFavouriteRoute } from './favourite.ts';
import { authorOf, recordWorkflow } from './origin.ts';
import { presentWorkflowItem } from './present.ts';
import { adminVersionRoutes } from './version-routes.ts';

/** Executions shown per list item. */
const STRIP_LENGTH = 20;

/** Workflows in the admin area: list, create, read, change, archive, delete, versions. */
export function adminWorkflowRoutes(app: FastifyInstance, deps: AppDeps): void {
  addList(app, deps);
  addCreateRoutes(app, deps);
  addRead(app, deps);
  addChange(app, deps);
  addArchive(app, deps);
  addDeleteRoute(app, deps);
  addBulkRoute(app, deps);
  addFavouriteRoute(app, deps);
  adminVersionRoutes(app, deps);
}

function addList(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;
  const readPage = createReadPage(deps);

  adminRoute(app, deps, 'GET /orgs/:org/workflows', (call) => {
    const { organisation, session, query } = call;
    const { id } = organisation;
    const { search = '', status, tag, folder, favourites: onlyFavourites = false, sort = 'created' } = query;
    const filters: WorkflowFilters = {
      statuses: statusesOf(status),
      tag: tag ?? null,
      patterns: patternsOf(search),
      folder: folder === undefined ? null : folder === 'none' ? 'none' : Number(folder),
      onlyFavourites,
    };
    return readPage(call, {
      filters: { search, status, tag, folder, favourites: String(onlyFavourites), sort },
      read: (afterId, count, key) =>
        db.forOrganisation(id, async (tx) => {
          const viewer = { organisationId: id, userId: session.userId };
          const after = afterId === null || key === null ? null : { id: afterId, key };
          const rows = await listWorkflowItems(tx, viewer, filters, { sort, after, count });
          const ids = rows.map((row) => row.id);
          const runs = Map.groupBy(await listRecentRuns(tx, id, ids, STRIP_LENGTH), (run) => run.workflow_id);
          return rows.map((row) => ({ ...row, runs: runs.get(row.id) ?? [] }));
        }),
      present: ({ runs, ...row }) => presentWorkflowItem(row, runs),
    });
  });

  adminRoute(app, deps, 'GET /orgs/:org/workflow-tags', async ({ organisation: { id } }) => ({
    tags: await db.forOrganisation(id, (tx) => listTags(tx, id)),
  }));
}

function statusesOf(status: string | undefined): WorkflowFilters['statuses'] {
  if (status === 'all') return WORKFLOW_STATUSES;
  return WORKFLOW_STATUSES.filter((each) => (status === undefined ? each !== 'archived' : each === status));
}

/** Search words used: the longest, which are the most selective, if there are more. */
const MAX_WORDS = 8;

/** Words are matched literally: `%` and `_` aren't wildcards. A word contained in another one adds nothing. */
function patternsOf(search: string): string[] {
  const words = new Map(search.split(/\s+/).map((word) => [word.toLowerCase(), word]));
  const small = [...words.keys()];
  return [...words]
    .filter(([word]) => !small.some((other) => other !== word && other.includes(word)))
    .map(([, word]) => word)
    .filter((word) => word !== '')
    .toSorted((a, b) => b.length - a.length)
    .slice(0, MAX_WORDS)
    .map((word) => `%${word.replace(/[\\%_]/g, '\\$&')}%`);
}

function addRead(app: FastifyInstance, deps: AppDeps): void {
  const { db, registry, config } = deps;

  adminRoute(app, deps, 'GET /orgs/:org/workflows/:id', async ({ organisation, session, params }) => {
    const id = pathId(params.id, 'workflow');
    const viewer = viewerOf(session, organisation.id, deps);
    return db.forOrganisation(organisation.id, async (tx) =>
      describeWorkflow(tx, viewer, await requireWorkflow(tx, organisation.id, id)),
    );
  });

  adminRoute(app, deps, 'POST /orgs/:org/flow-checks', async ({ organisation: { id }, body }) =>
    db.forOrganisation(id, (tx) =>
      checkFlowData(tx, id, body.flow_data, { registry, maxNodes: config.limits.nodes }),
    ),
  );
}

type Change = Body<'PUT /orgs/:org/workflows/:id'>;

function addChange(app: FastifyInstance, deps: AppDeps): void {
  const { db, registry } = deps;

  adminRoute(app, deps, 'PUT /orgs/:org/workflows/:id', async (call) => {
    const { organisation, session, body } = call;
    const id = pathId(call.params.id, 'workflow');
    const viewer = viewerOf(session, organisation.id, deps);
    const { updated_at: seen, ...change } = body;
    return db.forOrganisation(organisation.id, async (tx) => {
      const author = authorOf(session, organisation.id);
      const current = await readLockedWorkflow(tx, author, id);
      refuseUnseen(current, seen);
      const row = await changeWorkflow(tx, author, current, change, null, registry);
      if (row !== current)
        await recordWorkflow(tx, call, 'workflow.changed', row.id, changeDetails(current, row));
      return describeWorkflow(tx, viewer, row);
    });
  });
}

/** @throws ApiError `precondition_failed` */
function refuseUnseen(row: WorkflowDetailRow, seen: Change['updated_at']): void {
  if (parseTimestamp(seen)?.getTime() === row.updated_at.getTime()) return;
  throw new ApiError('precondition_failed', message('api.precondition_failed'));
}

function addArchive(app: FastifyInstance, deps: AppDeps): void {
  const { db, registry } = deps;

  async function move(
    call: AdminCall<'POST /orgs/:org/workflows/:id/archive' | 'POST /orgs/:org/workflows/:id/restore'>,
    to: 'archived' | 'inactive',
  ) {
    const { organisation, session } = call;
    const id = pathId(call.params.id, 'workflow');
    return db.forOrganisation(organisation.id, async (tx) => {
      const author = authorOf(session, organisation.id);
      const current = await readLockedWorkflow(tx, author, id);
      if (to === 'inactive' && current.status !== 'archived') throw notArchived();
      const row =
        to === 'archived'
          ? await archiveWorkflow(tx, current)
          : await changeWorkflow(tx, author, current, { status: to }, null, registry);
      const action = to === 'archived' ? 'workflow.archived' : 'workflow.restored';
      if (row !== current) await recordWorkflow(tx, call, action, id, { from_status: current.status });
      return describeWorkflow(tx, viewerOf(session, organisation.id, deps), row);
    });
  }

  adminRoute(app, deps, 'POST /orgs/:org/workflows/:id/archive', (call) => move(call, 'archived'));
  adminRoute(app, deps, 'POST /orgs/:org/workflows/:id/restore', (call) => move(call, 'inactive'));
}

function notArchived(): ApiError {
  return new ApiError('workflow_not_archived', message('api.restore_not_archived'));
}
