import type { PastInput, Sample } from '@millrace/admin-api';
import { formatTimestamp, type JsonObject, parseJson } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { sendEvents } from '@millrace/http/event-stream';
import { pathId } from '@millrace/http/ids';
import { createWatcher, endingInTime } from '@millrace/http/watcher';
import { message } from '@millrace/messages';
import { listPastInputs, type PastInputRow } from '@millrace/service/samples/past-inputs';
import { createSampleSignals } from '@millrace/service/samples/signals';
import {
  deleteListener,
  findListening,
  findSample,
  putListener,
  putSample,
  type SampleRow,
} from '@millrace/service/samples/store';
import { samplesClosedBecause } from '@millrace/service/webhooks/closed';
import type { WorkflowDetailRow } from '@millrace/service/workflows/store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';
import { requireWorkflow } from '../workflows/detail.ts';
import { recordWorkflow } from '../workflows/origin.ts';
import { streamListening } from './events.ts';

/** Listening ends after two minutes unless it is extended. */
const LISTEN_S = 120;
const PAST_INPUTS = 20;
/** Larger inputs are listed without their content. */
const MAX_LISTED_INPUT_BYTES = 65_536;

/** Data to test a workflow with: its sample, past inputs, and the next call of its webhook. */
export function sampleRoutes(app: FastifyInstance, deps: AppDeps): void {
  addSample(app, deps);
  addInputs(app, deps);
  addListener(app, deps);
  addEvents(app, deps);
}

function addSample(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;

  adminRoute(app, deps, 'GET /orgs/:org/workflows/:id/sample', async ({ organisation, params }) => {
    const id = pathId(params.id, 'workflow');
    return db.forOrganisation(organisation.id, async (tx) => {
      await requireWorkflow(tx, organisation.id, id);
      return { sample: presentOrNull(await findSample(tx, id)) };
    });
  });

  adminRoute(app, deps, 'PUT /orgs/:org/workflows/:id/sample', async (call) => {
    const { organisation, params, body } = call;
    const id = pathId(params.id, 'workflow');
    return db.forOrganisation(organisation.id, async (tx) => {
      await requireWorkflow(tx, organisation.id, id);
      const row = await putSample(tx, { organisationId: organisation.id, workflowId: id, data: body.data });
      await recordWorkflow(tx, call, 'workflow.sample_written', id);
      return present(row);
    });
  });
}

function addInputs(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;

  adminRoute(app, deps, 'GET /orgs/:org/workflows/:id/inputs', async ({ organisation, params, query }) => {
    const id = pathId(params.id, 'workflow');
    const wanted = {
      workflowId: id,
      maxBytes: MAX_LISTED_INPUT_BYTES,
      count: PAST_INPUTS,
      also: query.with ?? null,
    };
    return db.forOrganisation(organisation.id, async (tx) => {
      await requireWorkflow(tx, organisation.id, id);
      const rows = await listPastInputs(tx, { organisationId: organisation.id, ...wanted });
      return { sample: presentOrNull(await findSample(tx, id)), executions: rows.map(presentInput) };
    });
  });
}

function presentInput(row: PastInputRow): PastInput {
  return {
    execution_id: row.id,
    status: row.status,
    display_name: row.display_name,
    trigger_type: row.trigger_type,
    created_at: formatTimestamp(row.created_at),
    input_bytes: row.input_bytes,
    ...(row.input === null ? {} : { input: parseJson(row.input) }),
  };
}

function addListener(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;

  adminRoute(app, deps, 'POST /orgs/:org/workflows/:id/sample-listener', async (call) => {
    const { organisation, session } = call;
    const id = pathId(call.params.id, 'workflow');
    return db.forOrganisation(organisation.id, async (tx) => {
      refuseWithoutCalls(await requireWorkflow(tx, organisation.id, id));
      const { until: before } = await findListening(tx, id, session.userId);
      const of = { organisationId: organisation.id, workflowId: id, userId: session.userId };
      const until = await putListener(tx, { ...of, seconds: LISTEN_S });
      if (before === null) await recordWorkflow(tx, call, 'workflow.sample_awaited', id);
      const { revision } = await findListening(tx, id, session.userId);
      return { until: formatTimestamp(until), revision };
    });
  });

  adminRoute(app, deps, 'DELETE /orgs/:org/workflows/:id/sample-listener', async (call) => {
    const { organisation, session } = call;
    const id = pathId(call.params.id, 'workflow');
    await db.forOrganisation(organisation.id, async (tx) => {
      await requireWorkflow(tx, organisation.id, id);
      await deleteListener(tx, id, session.userId);
    });
  });
}

/** @throws ApiError if no call can arrive */
function refuseWithoutCalls(row: WorkflowDetailRow): void {
  const reason = samplesClosedBecause(row);
  if (reason === null) return;
  const what = {
    no_webhook_trigger: message('api.sample_no_webhook'),
    workflow_inactive: message('api.sample_inactive'),
    workflow_archived: message('api.sample_archived'),
  };
  throw new ApiError(reason, what[reason]);
}

function addEvents(app: FastifyInstance, deps: AppDeps): void {
  const { db, log } = deps;
  const signals = createSampleSignals(db, log);
  const watcher = createWatcher(app, signals);

  adminRoute(app, deps, 'GET /orgs/:org/workflows/:id/sample-listener/events', async (call) => {
    const { organisation, session, query, reply } = call;
    const id = pathId(call.params.id, 'workflow');
    await db.forOrganisation(organisation.id, (tx) => requireWorkflow(tx, organisation.id, id));
    await signals.start();
    const source = {
      read: () => db.forOrganisation(organisation.id, (tx) => findListening(tx, id, session.userId)),
      readSample: async () =>
        presentOrNull(await db.forOrganisation(organisation.id, (tx) => findSample(tx, id))),
    };
    const watch = endingInTime(watcher(id, reply));
    const events = streamListening(source, watch, query.after);
    return sendEvents(reply, events);
  });
}

function presentOrNull(row: SampleRow | undefined): Sample | null {
  return row === undefined ? null : present(row);
}

function present(row: SampleRow): Sample {
  return {
    revision: row.revision,
    source: row.source,
    received_at: formatTimestamp(row.received_at),
    data: parseJson(row.data),
    headers:
      row.headers === null ? null : (parseJson(row.headers) as JsonObject as { [name: string]: string }),
    execution_id: row.execution_id,
    is_repeat: row.is_repeat,
  };
}
