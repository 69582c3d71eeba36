import type { Polling } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { formatTimestamp, parseJson, readError, type StoredError } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { pathId } from '@millrace/http/ids';
import { message } from '@millrace/messages';
import { presentMessage } from '@millrace/messages/english';
import { findPolling, hastenPoll, type PollingRow } from '@millrace/polling/store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';
import { requireWorkflow } from '../workflows/detail.ts';

/** When a workflow's trigger polls, and the results. */
export function pollingRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;

  adminRoute(app, deps, 'GET /orgs/:org/workflows/:id/polling', async ({ organisation, params, query }) => {
    const id = pathId(params.id, 'workflow');
    return db.forOrganisation(organisation.id, async (tx) => {
      await requireWorkflow(tx, organisation.id, id);
      return { polling: await read(tx, organisation.id, id, query.node ?? null) };
    });
  });

  adminRoute(app, deps, 'POST /orgs/:org/workflows/:id/polling', async ({ organisation, params, query }) => {
    const id = pathId(params.id, 'workflow');
    return db.forOrganisation(organisation.id, async (tx) => {
      await requireWorkflow(tx, organisation.id, id);
      const nodeId = query.node ?? null;
      const isPolling = await hastenPoll(tx, id, nodeId);
      const polling = isPolling ? await read(tx, organisation.id, id, nodeId) : null;
      if (polling === null) throw new ApiError('workflow_inactive', message('api.not_polling'));
      return { polling };
    });
  });
}

async function read(
  tx: Queryable,
  organisationId: number,
  workflowId: number,
  nodeId: string | null,
): Promise<Polling | null> {
  const row = await findPolling(tx, organisationId, workflowId, nodeId);
  return row === undefined ? null : present(row);
}

function present(row: PollingRow): Polling {
  const time = (at: Date | null): string | null => (at === null ? null : formatTimestamp(at));
  return {
    listens: row.listens,
    is_test_mode: row.is_test_mode,
    is_polling: row.is_polling,
    next_poll_at: time(row.next_poll_at),
    last_poll_at: time(row.last_poll_at),
    last_success_at: time(row.last_success_at),
    last_started: row.last_started,
    started: row.started,
    failures: row.failures,
    last_error: row.last_error === null ? null : presentError(parseJson(row.last_error) as StoredError),
  };
}

function presentError(stored: StoredError): NonNullable<Polling['last_error']> {
  const { code, message: said } = readError(stored);
  return { code, ...presentMessage(said) };
}
