import { formatTimestamp } from '@millrace/engine';
import { pathId } from '@millrace/http/ids';
import { findSettings } from '@millrace/service/settings/store';
import { readRunBars } from '@millrace/service/workflows/run-statistics';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';
import { requireWorkflow } from './detail.ts';

const USUAL_ZONE = 'UTC';

/** Figures of a workflow's runs, for its charts. */
export function workflowRunRoutes(app: FastifyInstance, deps: AppDeps): void {
  adminRoute(app, deps, 'GET /orgs/:org/workflows/:id/runs', async ({ organisation, params, query }) => {
    const workflowId = pathId(params.id, 'workflow');
    return deps.db.forOrganisation(organisation.id, async (tx) => {
      await requireWorkflow(tx, organisation.id, workflowId);
      const zone = (await findSettings(tx, organisation.id)).time_zone ?? USUAL_ZONE;
      const { step, bars } = await readRunBars(tx, organisation.id, workflowId, query.range, zone);
      return {
        step,
        time_zone: zone,
        bars: bars.map(({ at, completed, failed, medianMs, p95Ms }) => ({
          at: formatTimestamp(at),
          completed,
          failed,
          median_ms: medianMs,
          p95_ms: p95Ms,
        })),
      };
    });
  });
}
