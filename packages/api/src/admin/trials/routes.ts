import type { Body } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import {
  type CompileResult,
  canonicalJson,
  compile,
  type Flow,
  findProblems,
  type JsonValue,
  type NodeRegistry,
  parseJson,
  recordsToShow,
  stringifyJson,
} from '@millrace/engine';
import { notFound, validationError } from '@millrace/errors/errors';
import { insertAudit } from '@millrace/identity/audit/store';
import { message } from '@millrace/messages';
import { parseChunks } from '@millrace/runtime/chunks';
import type { Starter } from '@millrace/service/executions/accept';
import { findRerunSource } from '@millrace/service/executions/store';
import { findPastInput } from '@millrace/service/samples/past-inputs';
import { outputsOf, reduceToNode, trialSettings } from '@millrace/service/trials/only-node';
import { insertTrial } from '@millrace/service/trials/store';
import { archivedError, checkFlow, refuseProblems } from '@millrace/service/workflows/rules';
import { findVersion, type WorkflowDetailRow } from '@millrace/service/workflows/store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../http/app-deps.ts';
import { pathId } from '../../http/ids.ts';
import { refuseInput } from '../../public/executions/execute-route.ts';
import { type AdminCall, adminRoute } from '../http/route.ts';
import { requireWorkflow } from '../workflows/detail.ts';

type Run = AdminCall<'POST /orgs/:org/workflows/:id/run'>;
type RunBody = Body<'POST /orgs/:org/workflows/:id/run'>;

/** What a run executes: a saved version, or a flow stored for this run only. */
interface RunContent {
  readonly version: number | null;
  readonly flow: Flow;
}

/** Starting a workflow manually: the saved version, an unsaved draft, or one node of it. */
export function trialRoutes(app: FastifyInstance, deps: AppDeps, starter: Starter): void {
  const { db, registry } = deps;

  adminRoute(app, deps, 'POST /orgs/:org/workflows/:id/run', async (call) => {
    const { organisation, body } = call;
    const id = pathId(call.params.id, 'workflow');
    refuseUnfit(body);
    const { executionId, now } = await starter.lookUp(organisation.id, id, null);
    const stored = await db.forOrganisation(organisation.id, async (tx) => {
      const workflow = await requireWorkflow(tx, organisation.id, id);
      if (workflow.status === 'archived') throw archivedError();
      const content = await contentOf(tx, organisation.id, workflow, body, deps);
      const input = await inputOf(tx, organisation.id, id, body);
      const compiled = compileSound(content.flow, registry, body.only_node !== undefined);
      if (body.only_node === undefined) refuseInput(compiled, input, '/input');
      const version = content.version ?? (await storeTrial(tx, call, id, content.flow));
      const order = {
        executionId,
        acceptedAt: now,
        workflow: {
          id,
          organisationId: organisation.id,
          name: workflow.name,
          isTestMode: body.is_test_mode ?? workflow.is_test_mode,
        },
        version,
        triggerType: 'manual',
        input,
        compiled,
        origin: { apiKeyId: null, sourceIp: call.request.ip },
      };
      // Queued, so that it is stored together with its flow and the audit entry; any worker with a free slot takes it.
      await starter.storeQueued(tx, organisation.id, [order]);
      await record(tx, call, { execution_id: executionId, workflow_id: id, version: Math.max(version, 0) });
      return order;
    });
    starter.stored(stored);
    return { execution_id: executionId };
  });
}

/** @throws ApiError 422 for members that exclude each other */
function refuseUnfit(body: RunBody): void {
  const clashes = [
    { given: body.flow_data !== undefined && body.version !== undefined, at: '/version', with: 'flow_data' },
    { given: body.input !== undefined && body.input_of !== undefined, at: '/input_of', with: 'input' },
  ];
  const lonely = [
    { given: body.pinned_outputs !== undefined, at: '/pinned_outputs' },
    { given: body.outputs_of !== undefined, at: '/outputs_of' },
  ];
  const errors = [
    ...clashes.map((each) => ({ ...each, fault: message('api.not_with', { other: each.with }) })),
    ...lonely
      .map((each) => ({ ...each, given: each.given && body.only_node === undefined }))
      .map((each) => ({ ...each, fault: message('api.only_with', { other: 'only_node' }) })),
  ].filter((each) => each.given);
  if (errors.length === 0) return;
  throw validationError(
    errors.map(({ at, fault }) => ({ pointer: at, code: 'not_allowed', message: fault })),
  );
}

async function contentOf(
  tx: Queryable,
  organisationId: number,
  workflow: WorkflowDetailRow,
  body: RunBody,
  { registry, config }: Pick<AppDeps, 'registry' | 'config'>,
): Promise<RunContent> {
  const { version, flow } = await chosenFlow(tx, organisationId, workflow, body);
  const checked = checkFlow(flow, registry, config.limits.nodes).flow;
  if (body.only_node !== undefined) {
    const only = {
      nodeId: body.only_node,
      pinned: body.pinned_outputs ?? {},
      fallback: await fallbackOf(tx, organisationId, workflow.id, body.outputs_of),
    };
    return { version: null, flow: reduceToNode(checked, registry, only) };
  }
  if (version !== null) return { version, flow: checked };
  return { version: null, flow: { ...checked, settings: trialSettings(checked.settings) } };
}

/** A draft identical to the saved version isn't a draft any longer. */
async function chosenFlow(
  tx: Queryable,
  organisationId: number,
  workflow: WorkflowDetailRow,
  body: RunBody,
): Promise<{ readonly version: number | null; readonly flow: JsonValue }> {
  const saved = parseJson(workflow.flow_data);
  const { flow_data: draft, version } = body;
  if (draft !== undefined) {
    const isSaved = canonicalJson(draft) === canonicalJson(saved);
    return { version: isSaved ? workflow.version : null, flow: draft };
  }
  if (version === undefined) return { version: workflow.version, flow: saved };
  const row = await findVersion(tx, organisationId, workflow.id, version);
  if (row === undefined) throw notFound('version');
  return { version, flow: parseJson(row.flow_data) };
}

async function fallbackOf(tx: Queryable, organisationId: number, workflowId: number, executionId?: number) {
  if (executionId === undefined) return outputsOf([]);
  const source = await findRerunSource(tx, organisationId, executionId);
  if (source === undefined || source.workflow_id !== workflowId) throw noSuchExecution('/outputs_of');
  return outputsOf(recordsToShow(parseChunks(source.chunks)));
}

async function inputOf(
  tx: Queryable,
  organisationId: number,
  workflowId: number,
  { input, input_of: executionId }: RunBody,
): Promise<JsonValue> {
  if (executionId === undefined) return input ?? (input === undefined ? {} : null);
  const text = await findPastInput(tx, organisationId, workflowId, executionId);
  if (text === undefined) throw noSuchExecution('/input_of');
  return parseJson(text);
}

function noSuchExecution(pointer: string): Error {
  return validationError([{ pointer, code: 'not_found', message: message('api.execution_elsewhere') }]);
}

/**
 * Reports a flow that can't run before it is started.
 * @param isReduced pointers into the flow that runs don't apply to the flow that was sent
 * @throws ApiError 422 with one error per problem
 */
function compileSound(flow: Flow, registry: NodeRegistry, isReduced: boolean): CompileResult {
  if (!isReduced) refuseProblems(flow, registry);
  const errors = findProblems(flow, registry).map(({ code, message: said }) => ({
    pointer: '/only_node',
    code,
    message: said,
  }));
  if (errors.length > 0) throw validationError(errors);
  return compile(flow, registry);
}

function storeTrial(
  tx: Queryable,
  { session, organisation }: Run,
  workflowId: number,
  flow: Flow,
): Promise<number> {
  return insertTrial(tx, {
    organisationId: organisation.id,
    workflowId,
    userId: session.userId,
    flowData: stringifyJson(flow),
  });
}

async function record(
  tx: Queryable,
  { actor, organisation }: Run,
  details: { readonly [name: string]: number },
): Promise<void> {
  await insertAudit(tx, {
    organisationId: organisation.id,
    action: 'execution.started',
    by: actor,
    details,
  });
}
