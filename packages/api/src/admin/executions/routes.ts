import type { Queryable } from '@millrace/database/database';
import { parseJson } from '@millrace/engine';
import { notFound } from '@millrace/errors/errors';
import { sendEvents } from '@millrace/http/event-stream';
import { pathId } from '@millrace/http/ids';
import { createWatcher, endingInTime } from '@millrace/http/watcher';
import { listDecisions, listOpenWaits } from '@millrace/service/callbacks/store';
import type { Starter } from '@millrace/service/executions/accept';
import { readIterations, readRecord } from '@millrace/service/executions/admin-iterations';
import { readEntries, readNodes } from '@millrace/service/executions/admin-journal';
import {
  type AdminDetailRow,
  findAdminDetail,
  findExecutionFlow,
} from '@millrace/service/executions/admin-store';
import type { Cancel } from '@millrace/service/executions/cancel';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { followExecution } from '../../public/executions/follow.ts';
import { presentApproval, presentCallback } from '../callbacks/present.ts';
import { adminRoute } from '../http/route.ts';
import { adminActionRoutes } from './actions.ts';
import { executionFileRoutes } from './files.ts';
import { adminListRoutes, mayReadOrigin } from './list.ts';
import { createFollowList } from './live.ts';
import {
  areSame,
  parseList,
  presentAdminItem,
  presentComparison,
  presentIteration,
  presentNodes,
  presentOrigin,
  presentRun,
  type Side,
} from './present.ts';
import { executionViewRoutes } from './views.ts';

const LIST = 'GET /orgs/:org/executions';

/** Executions in the admin area. */
export function adminExecutionRoutes(
  app: FastifyInstance,
  deps: AppDeps,
  starter: Starter,
  cancel: Cancel,
): void {
  adminListRoutes(app, deps);
  executionViewRoutes(app, deps);
  addDetail(app, deps);
  addNodes(app, deps);
  addStreams(app, deps);
  executionFileRoutes(app, deps);
  adminActionRoutes(app, deps, starter, cancel);
}

function addDetail(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;

  adminRoute(app, deps, 'GET /orgs/:org/executions/compare', async ({ organisation: { id }, query }) => {
    const [a, b] = await db.forOrganisation(
      id,
      async (tx) => [await readSide(tx, id, query.a), await readSide(tx, id, query.b)] as const,
    );
    const isSameInput = await areSame(parseJson(a.row.input), parseJson(b.row.input));
    return {
      a: presentAdminItem(a.row),
      b: presentAdminItem(b.row),
      is_same_input: isSameInput,
      nodes: await presentComparison(a, b),
    };
  });

  adminRoute(app, deps, 'GET /orgs/:org/executions/:execution', async ({ organisation, params }) => {
    const { id, role } = organisation;
    const executionId = pathId(params.execution, 'execution');
    const { row, journal, waits, decisions } = await db.forOrganisation(id, async (tx) => ({
      ...(await readSide(tx, id, executionId)),
      waits: await listOpenWaits(tx, id, executionId),
      decisions: await listDecisions(tx, id, executionId),
    }));
    return {
      execution: presentAdminItem(row),
      input_data: parseJson(row.input),
      search_keys: row.search_keys === null ? {} : parseJson(row.search_keys),
      nodes: await presentNodes(journal, row),
      children: parseList(row.children),
      approvals: waits.filter(({ kind }) => kind === 'approval').map(presentApproval),
      callbacks: waits.filter(({ kind }) => kind === 'callback').map(presentCallback),
      decisions: decisions.map(presentApproval).toReversed(),
      reruns: parseList(row.reruns),
      origin: mayReadOrigin(role) ? presentOrigin(row) : null,
    };
  });

  adminRoute(
    app,
    deps,
    'GET /orgs/:org/executions/:execution/flow',
    async ({ organisation: { id }, params }) => {
      const executionId = pathId(params.execution, 'execution');
      const row = await db.forOrganisation(id, (tx) => findExecutionFlow(tx, id, executionId));
      if (row === undefined) throw notFound('execution');
      return {
        workflow_id: row.workflow_id,
        version: row.workflow_version,
        current_version: row.current_version,
        flow_data: parseJson(row.flow_data),
      };
    },
  );
}

async function requireRow(
  tx: Queryable,
  organisationId: number,
  executionId: number,
): Promise<AdminDetailRow> {
  const row = await findAdminDetail(tx, organisationId, executionId);
  if (row === undefined) throw notFound('execution');
  return row;
}

/** The row is read first, so that the journal contains everything its status implies. */
async function readSide(
  tx: Queryable,
  organisationId: number,
  executionId: number,
): Promise<Side & { readonly row: AdminDetailRow }> {
  const row = await requireRow(tx, organisationId, executionId);
  return { row, journal: await readNodes(readEntries(tx, organisationId, executionId)) };
}

const NODE = 'GET /orgs/:org/executions/:execution/nodes/:node';
const DEFAULT_ITERATIONS = 50;

function addNodes(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;

  adminRoute(app, deps, NODE, async ({ organisation: { id }, params, query }) => {
    const executionId = pathId(params.execution, 'execution');
    const iteration = query?.iteration?.split(',').map(Number) ?? null;
    return db.forOrganisation(id, async (tx) => {
      const row = await requireRow(tx, id, executionId);
      const record = await readRecord(readEntries(tx, id, executionId), params.node, iteration);
      if (record === undefined) throw notFound('node_run');
      return presentRun(record, row);
    });
  });

  adminRoute(app, deps, `${NODE}/iterations`, async ({ organisation: { id }, params, query }) => {
    const executionId = pathId(params.execution, 'execution');
    const { limit = DEFAULT_ITERATIONS, skip = 0, status } = query ?? {};
    return db.forOrganisation(id, async (tx) => {
      const row = await requireRow(tx, id, executionId);
      const records = await readIterations(readEntries(tx, id, executionId), params.node);
      const all = records.map((record) => presentIteration(record, row));
      const wanted = status === undefined ? all : all.filter((each) => each.status === status);
      return { items: wanted.slice(skip, skip + limit), total: wanted.length };
    });
  });
}

function addStreams(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;
  const followList = createFollowList(app, deps);
  const watcher = createWatcher(app, deps.notifier);

  adminRoute(app, deps, `${LIST}/events`, async ({ organisation, reply }) =>
    sendEvents(reply, followList(organisation.id, reply)),
  );

  adminRoute(
    app,
    deps,
    'GET /orgs/:org/executions/:execution/events',
    async ({ organisation, params, request, reply }) => {
      const id = pathId(params.execution, 'execution');
      return followExecution(db, { organisationId: organisation.id, id }, request, reply, () =>
        endingInTime(watcher(id, reply)),
      );
    },
  );
}
