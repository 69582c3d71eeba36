import { principalOf } from '@millrace/http/context';
import { createCursors, toPage } from '@millrace/http/pagination';
import { response } from '@millrace/http/responses';
import { listWorkflows, listWorkflowsByStatus } from '@millrace/service/workflows/store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { presentItem } from './present.ts';
import { EXAMPLES, ListWorkflowsQuery, WorkflowPage } from './schema.ts';

/** `GET /workflows`. */
export function workflowListRoutes(app: FastifyInstance, { db }: AppDeps): void {
  const cursors = createCursors(db);
  const schema = {
    operationId: 'listWorkflows',
    summary: 'List workflows, newest first',
    description: 'Without `status`, workflows of every status are listed, including archived ones.',
    tags: ['Workflows'],
    querystring: ListWorkflowsQuery,
    response: { 200: response('A page of workflows.', WorkflowPage, { example: EXAMPLES.page }) },
  };
  const options = { config: { scope: 'workflows:read' }, schema } as const;
  app.get<{ Querystring: ListWorkflowsQuery }>('/api/v1/workflows', options, async (request) => {
    const { organisationId } = principalOf(request);
    const { status, cursor, limit = 20 } = request.query;
    const binding = { organisationId, endpoint: 'GET /api/v1/workflows', filters: { status } };
    const below = cursor === undefined ? Number.MAX_SAFE_INTEGER : await cursors.decode(cursor, binding);
    const rows = await db.forOrganisation(organisationId, (tx) =>
      status === undefined
        ? listWorkflows(tx, organisationId, below, limit + 1)
        : listWorkflowsByStatus(tx, organisationId, status, below, limit + 1),
    );
    return toPage(rows, limit, presentItem, cursors, binding);
  });
}
