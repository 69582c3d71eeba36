import { isFileId } from '@millrace/engine';
import { notFound } from '@millrace/errors/errors';
import { sendFile } from '@millrace/http/download';
import { pathId } from '@millrace/http/ids';
import { hasExecution } from '@millrace/service/executions/admin-store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';

const FILES = 'GET /orgs/:org/executions/:execution/files';

/** The files in the inputs and outputs of an execution. Only those it refers to, because a value in an output may be made up. */
export function executionFileRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db, files } = deps;

  async function requireExecution(organisationId: number, id: number): Promise<void> {
    const isKnown = await db.forOrganisation(organisationId, (tx) => hasExecution(tx, organisationId, id));
    if (!isKnown) throw notFound('execution');
  }

  adminRoute(app, deps, FILES, async ({ organisation, params, query }) => {
    const execution = pathId(params.execution, 'execution');
    await requireExecution(organisation.id, execution);
    const rows = await files.listOf(organisation.id, execution, query.ids.split(',').filter(isFileId));
    return { items: rows.map(({ id, name, type, size }) => ({ id, name, type, size })) };
  });

  adminRoute(app, deps, `${FILES}/:file`, async ({ organisation, params, request, reply }) => {
    const execution = pathId(params.execution, 'execution');
    const file = await files.findOf(organisation.id, execution, params.file);
    if (file !== undefined) return sendFile(files, file, request, reply);
    await requireExecution(organisation.id, execution);
    throw notFound('file');
  });
}
