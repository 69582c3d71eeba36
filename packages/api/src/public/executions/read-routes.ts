import type { Queryable } from '@millrace/database/database';
import { parseTimestamp } from '@millrace/engine';
import { notFound } from '@millrace/errors/errors';
import { principalOf } from '@millrace/http/context';
import { presentWorkflowId } from '@millrace/http/former-ids';
import { pathId } from '@millrace/http/ids';
import { createCursors, toPage } from '@millrace/http/pagination';
import { response } from '@millrace/http/responses';
import { createWatcher, type Watcher } from '@millrace/http/watcher';
import { waitForEnd } from '@millrace/runtime/watch';
import {
  type ExecutionDetailRow,
  type ExecutionFilters,
  findExecution,
  findOnceEnded,
  listExecutions,
} from '@millrace/service/executions/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { AppDeps } from '../../app-deps.ts';
import { followExecution } from './follow.ts';
import { presentDetail, presentItem } from './present.ts';
import { ExecutionPage, ListExecutionsQuery, ReadExecutionQuery } from './schema.ts';

type ById = { Params: { id: string } };

/** `GET /executions`, `GET /executions/{id}` and its events. */
export function readRoutes(app: FastifyInstance, deps: AppDeps): void {
  const watcher = createWatcher(app, deps.notifier);
  addList(app, deps);
  addRead(app, deps, watcher);
  addEvents(app, deps, watcher);
}

function addList(app: FastifyInstance, { db }: AppDeps): void {
  const cursors = createCursors(db);
  const schema = {
    operationId: 'listExecutions',
    summary: 'List executions, newest first',
    description: 'Without `input_data` and `node_outputs`, which only the execution itself has.',
    tags: ['Executions'],
    querystring: ListExecutionsQuery,
    response: { 200: response('A page of executions.', ExecutionPage) },
  };
  const options = { config: { scope: 'executions:read' }, schema } as const;
  app.get<{ Querystring: ListExecutionsQuery }>('/api/v1/executions', options, async (request) => {
    const { organisationId } = principalOf(request);
    const { cursor, limit = 20 } = request.query;
    const filters = toFilters(request);
    const binding = {
      organisationId,
      endpoint: 'GET /api/v1/executions',
      filters: {
        workflow_id: filters.workflowId,
        status: filters.status,
        created_after: filters.createdAfter?.getTime(),
        created_before: filters.createdBefore?.getTime(),
      },
    };
    const belowId = cursor === undefined ? Number.MAX_SAFE_INTEGER : await cursors.decode(cursor, binding);
    const rows = await db.forOrganisation(organisationId, (tx) =>
      listExecutions(tx, organisationId, filters, belowId, limit + 1),
    );
    return toPage(rows, limit, presentItem, cursors, binding);
  });
}

function toFilters(request: FastifyRequest<{ Querystring: ListExecutionsQuery }>): ExecutionFilters {
  const { query } = request;
  return {
    workflowId: query.workflow_id === undefined ? null : presentWorkflowId(request, query.workflow_id),
    status: query.status ?? null,
    createdAfter: query.created_after === undefined ? null : parseTimestamp(query.created_after),
    createdBefore: query.created_before === undefined ? null : parseTimestamp(query.created_before),
  };
}

function addRead(app: FastifyInstance, { db }: AppDeps, watcher: Watcher): void {
  const schema = {
    operationId: 'getExecution',
    summary: 'Get an execution with the outputs of its nodes',
    description: 'With `wait`, the response comes when the execution has ended or the time is over.',
    tags: ['Executions'],
    querystring: ReadExecutionQuery,
    response: { 200: response('The execution.', Type.Ref('ExecutionDetail#')) },
  };
  const options = { config: { scope: 'executions:read', recallsKey: true }, schema } as const;
  app.get<ById & { Querystring: ReadExecutionQuery }>(
    '/api/v1/executions/:id',
    options,
    async (request, reply) => {
      const { organisationId } = principalOf(request);
      const id = pathId(request.params.id, 'execution');
      const { wait } = request.query;
      const read = <Row>(find: (tx: Queryable, organisationId: number, id: number) => Promise<Row>) =>
        db.readForOrganisation(organisationId, (tx) => find(tx, organisationId, id));
      const readOnceEnded = async (waitMs: number): Promise<ExecutionDetailRow | null | undefined> => {
        const watch = watcher(id, reply);
        const waiting = waitForEnd(watch, () => read(findOnceEnded), waitMs);
        return (await waiting.finally(watch.close))?.ended;
      };
      const findRow = async () =>
        (wait === undefined ? null : await readOnceEnded(wait * 1_000)) ?? read(findExecution);
      // A key from memory is looked up meanwhile, which saves a round trip to the database.
      const [row] = await Promise.all([findRow(), request.confirmKey()]);
      if (row === undefined) throw notFound('execution');
      return presentDetail(row);
    },
  );
}

function addEvents(app: FastifyInstance, { db }: AppDeps, watcher: Watcher): void {
  const schema = {
    operationId: 'streamExecutionEvents',
    summary: 'Follow an execution by server-sent events',
    description:
      'Events: `execution` (as in lists) at the start and at each change of status, `node` (a node output with its `node_id`) at each change of a node. The stream ends with the final status. After an interruption, send the last ID in `Last-Event-ID` to get only later events; 204 if there will be none.',
    tags: ['Executions'],
    response: {
      200: response('The events.', Type.String(), { mediaType: 'text/event-stream' }),
      204: { description: 'The last event received was the final status.', type: 'null' },
    },
  };
  const options = {
    config: {
      scope: 'executions:read',
      extension: true,
      produces: ['text/event-stream'],
      readsHeaders: { 'Last-Event-ID': 'ID of the last event received: only later events are sent.' },
    },
    schema,
  } as const;
  app.get<ById>('/api/v1/executions/:id/events', options, async (request, reply) => {
    const { organisationId } = principalOf(request);
    const id = pathId(request.params.id, 'execution');
    return followExecution(db, { organisationId, id }, request, reply, () => watcher(id, reply));
  });
}
