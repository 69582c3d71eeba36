import type { Memory } from '@millrace/admin-api';
import { deleteMemories, type ListedMemory, listMemories } from '@millrace/chat/memory-store';
import { formatTimestamp } from '@millrace/engine';
import { pathId } from '@millrace/http/ids';
import { presentMemory, readTurns } from '@millrace/service/ai-data/ai-data';
import { listMemories as listAllMemories, memoryPlace } from '@millrace/service/ai-data/store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { createReadPage } from '../http/list.ts';
import { adminRoute } from '../http/route.ts';
import { requireWorkflow } from '../workflows/detail.ts';
import { recordWorkflow } from '../workflows/origin.ts';

const LISTED = 50;

/** What models remember of conversations: listing, reading and forgetting them. */
export function memoryRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;
  const readPage = createReadPage(deps);

  adminRoute(app, deps, 'GET /orgs/:org/memories', (call) => {
    const { id } = call.organisation;
    const search = call.query?.search?.trim() ?? '';
    return readPage(call, {
      filters: { search },
      read: (afterId, limit, afterKey) => {
        const after = afterId === null ? null : memoryPlace(afterId, afterKey ?? '');
        return db.forOrganisation(id, (tx) => listAllMemories(tx, id, { search, after, limit }));
      },
      present: presentMemory,
    });
  });

  adminRoute(
    app,
    deps,
    'GET /orgs/:org/workflows/:id/memories/turns',
    async ({ organisation, params, query }) => {
      const workflowId = pathId(params.id, 'workflow');
      return db.forOrganisation(organisation.id, async (tx) => {
        await requireWorkflow(tx, organisation.id, workflowId);
        return readTurns(tx, { organisationId: organisation.id, workflowId, key: query.key });
      });
    },
  );

  adminRoute(app, deps, 'GET /orgs/:org/workflows/:id/memories', async ({ organisation, params }) => {
    const id = pathId(params.id, 'workflow');
    return db.forOrganisation(organisation.id, async (tx) => {
      await requireWorkflow(tx, organisation.id, id);
      const rows = await listMemories(tx, organisation.id, { workflowId: id, limit: LISTED + 1 });
      return { items: rows.slice(0, LISTED).map(present), has_more: rows.length > LISTED };
    });
  });

  adminRoute(app, deps, 'POST /orgs/:org/workflows/:id/memories/forget', async (call) => {
    const { organisation, params, body } = call;
    const id = pathId(params.id, 'workflow');
    return db.forOrganisation(organisation.id, async (tx) => {
      await requireWorkflow(tx, organisation.id, id);
      const forgotten = await deleteMemories(tx, organisation.id, id, body.key);
      if (forgotten > 0) await recordWorkflow(tx, call, 'workflow.memory_forgotten', id, { forgotten });
      return { forgotten };
    });
  });
}

function present(row: ListedMemory): Memory {
  return {
    key: row.key,
    turns: row.turns,
    has_summary: row.has_summary,
    bytes: row.bytes,
    updated_at: formatTimestamp(row.updated_at),
    expires_at: formatTimestamp(row.expires_at),
  };
}
