import type { ResponseBody } from '@millrace/admin-api';
import { pointerToField } from '@millrace/engine';
import type { FieldError } from '@millrace/errors/errors';
import { pathId } from '@millrace/http/ids';
import { startOrigin } from '@millrace/http/origin';
import { insertAudit } from '@millrace/identity/audit/store';
import { presentMessage } from '@millrace/messages/english';
import type { BatchResult, StartBatch } from '@millrace/service/executions/batch';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { receiptOf } from '../../public/executions/start-response.ts';
import { adminRoute } from '../http/route.ts';

const IMPORT = 'POST /orgs/:org/workflows/:id/import';
type Row = ResponseBody<typeof IMPORT>['rows'][number];

/** Starting executions from the rows of a file, a chunk at a time. */
export function adminImportRoutes(app: FastifyInstance, deps: AppDeps, startBatch: StartBatch): void {
  adminRoute(app, deps, IMPORT, async ({ organisation, params, body, actor, request }) => {
    const workflowId = pathId(params.id, 'workflow');
    const { import_id: familyId, first_row: firstRow, inputs } = body;
    const results = await startBatch({
      organisationId: organisation.id,
      workflowId,
      items: inputs.map((input, index) => ({
        body: { input_data: input },
        key: String(firstRow + index),
      })),
      mode: 'each',
      // Can't be a namespace of API keys, for any ID that a client chooses.
      keys: { familyId, route: `import ${workflowId}` },
      triggerType: 'manual',
      origin: startOrigin(request),
      receiptOf: (executionId, acceptedAt) => receiptOf(deps.config.publicUrl, executionId, acceptedAt),
      within: async (tx, all) => {
        const count = all.filter(({ outcome }) => outcome === 'started').length;
        const details = { workflow_id: workflowId, count };
        const entry = {
          organisationId: organisation.id,
          action: 'execution.started',
          by: actor,
          details,
        } as const;
        if (count > 0) await insertAudit(tx, entry);
        return true;
      },
    });
    if (results === null) throw new Error('a chunk of an import was rejected');
    return { rows: results.map(present) };
  });
}

function present(result: BatchResult): Row {
  if (result.outcome !== 'refused') {
    const { execution_id: executionId } = JSON.parse(result.receipt.body) as { execution_id: number };
    return { execution_id: executionId, errors: [] };
  }
  return { execution_id: null, errors: (result.error.errors ?? []).map(presentError) };
}

function presentError({ pointer, message }: FieldError) {
  const inInput = pointer.replace(/^\/items\/\d+\/(input_data)?/, '');
  return { field: pointerToField(inInput), ...presentMessage(message) };
}
