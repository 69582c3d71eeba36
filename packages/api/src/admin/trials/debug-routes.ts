import type { Queryable } from '@millrace/database/database';
import { parseJson, recordsToShow, type ShownRecord } from '@millrace/engine';
import { notFound } from '@millrace/errors/errors';
import { pathId } from '@millrace/http/ids';
import { typesForFlow } from '@millrace/own-connectors/types';
import { parseChunks } from '@millrace/runtime/chunks';
import { findDraft } from '@millrace/service/drafts/store';
import { recordsKept } from '@millrace/service/executions/rerun';
import { findRerunSource, type RerunSource } from '@millrace/service/executions/store';
import {
  maskedIn,
  type PinnableOutputs,
  pinnableOutputs,
  replacedBy,
  rerunPreview,
} from '@millrace/service/trials/debug-data';
import { listPins, type PinOwner, replacePins } from '@millrace/service/trials/pins-store';
import type { WorkflowDetailRow } from '@millrace/service/workflows/store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';
import { requireWorkflow } from '../workflows/detail.ts';

/** An execution and the workflow to be changed because of it. */
interface DebugTarget {
  readonly source: RerunSource;
  readonly workflow: WorkflowDetailRow;
  readonly owner: PinOwner;
  readonly records: readonly ShownRecord[];
  readonly outputs: PinnableOutputs;
}

/** From an execution to the editor: its outputs as pins, and what a rerun after the change keeps. */
export function debugRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db, registry, plans } = deps;

  adminRoute(app, deps, 'GET /orgs/:org/executions/:execution/debug', async (call) => {
    const { organisation, session, params } = call;
    const { found, pins } = await db.forOrganisation(organisation.id, async (tx) => {
      const read = await open(tx, organisation.id, session.userId, params.execution);
      return { found: read, pins: await listPins(tx, read.owner) };
    });
    const { source, workflow, records, outputs } = found;
    return {
      workflow_id: workflow.id,
      status: source.status,
      pinned: [...outputs.texts.keys()],
      masked: maskedIn(outputs),
      left_out: outputs.leftOut,
      replaces: replacedBy(outputs, pins),
      rerun: source.status === 'failed' ? await preview(source, workflow.version, records) : null,
    };
  });

  adminRoute(app, deps, 'PUT /orgs/:org/executions/:execution/pins', async (call) => {
    const { organisation, session, params } = call;
    await db.forOrganisation(organisation.id, async (tx) => {
      const { owner, outputs } = await open(tx, organisation.id, session.userId, params.execution);
      await replacePins(tx, owner, outputs.texts);
    });
    return undefined;
  });

  async function open(
    tx: Queryable,
    organisationId: number,
    userId: number,
    id: string,
  ): Promise<DebugTarget> {
    const source = await findRerunSource(tx, organisationId, pathId(id, 'execution'));
    if (source === undefined) throw notFound('execution');
    const workflow = await requireWorkflow(tx, organisationId, source.workflow_id);
    const draft = await findDraft(tx, workflow.id, userId);
    const records = recordsToShow(parseChunks(source.chunks));
    const flow = parseJson(draft?.flow_data ?? workflow.flow_data);
    const types = await typesForFlow(registry, tx, organisationId, flow);
    const outputs = pinnableOutputs(records, flow, types);
    return { source, workflow, owner: { organisationId, workflowId: workflow.id, userId }, records, outputs };
  }

  async function preview(source: RerunSource, version: number, records: readonly ShownRecord[]) {
    const saved = await plans.get(source.workflow_id, version);
    const former = await plans.get(source.workflow_id, source.workflow_version);
    return rerunPreview(records, recordsKept(source, former, saved), saved);
  }
}
