import type { Body, WorkflowStatus } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import {
  type CompileResult,
  canonicalJson,
  compileWork,
  type Flow,
  findProblemsWork,
  type JsonValue,
  type NodeRegistry,
  parseJson,
  recordsToShow,
  stringifyJson,
} from '@millrace/engine';
import { notFound, validationError } from '@millrace/errors/errors';
import { pathId } from '@millrace/http/ids';
import { startOrigin } from '@millrace/http/origin';
import { insertAudit } from '@millrace/identity/audit/store';
import { message } from '@millrace/messages';
import { mayNameOwn } from '@millrace/own-connectors/names';
import { pinTypes, typesForNewFlow, typesOfSaved } from '@millrace/own-connectors/types';
import { parseChunks } from '@millrace/runtime/chunks';
import { recordsOfStart } from '@millrace/runtime/start-row';
import { finishInTurns } from '@millrace/runtime/turns';
import type { Starter } from '@millrace/service/executions/accept';
import { recordsKept, refuseUnended } from '@millrace/service/executions/rerun';
import { faultsOfTrigger, organisationPaused } from '@millrace/service/executions/startable';
import { findRerunSource, type RerunSource } from '@millrace/service/executions/store';
import { findPastInput } from '@millrace/service/samples/past-inputs';
import { outputsOf, reduceToNode, trialSettings } from '@millrace/service/trials/only-node';
import { insertTrial } from '@millrace/service/trials/store';
import { archivedError, checkFlow, refuseProblems } from '@millrace/service/workflows/rules';
import { findVersion, lockStatus, type WorkflowDetailRow } from '@millrace/service/workflows/store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { refuse, refuseInput } from '../../public/executions/execute-route.ts';
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
  const { db, registry, plans } = deps;

  adminRoute(app, deps, 'POST /orgs/:org/workflows/:id/run', async (call) => {
    const { organisation, body } = call;
    const id = pathId(call.params.id, 'workflow');
    refuseUnfit(body);
    const { executionId, now, isPaused } = await starter.lookUp(organisation.id, id, null);
    if (isPaused) throw organisationPaused();
    const former = await formerOf(organisation.id, id, body);
    const read = await db.forOrganisation(organisation.id, (tx) => readRun(tx, organisation.id, id, body));
    const chosen = flowOf(read, body);
    const types = await typesOfRun(organisation.id, id, chosen);
    const content = contentOf(chosen, body, former, { registry: types, config: deps.config });
    const compiled = await compileSound(content.flow, types, body.only_node !== undefined);
    const isPartial = body.only_node !== undefined || body.from_node !== undefined;
    const again = repeated(body, former, compiled);
    const input = again?.input ?? read.input;
    const trigger = isPartial ? null : (body.trigger ?? null);
    refuse(faultsOfTrigger(compiled, trigger, '/trigger'));
    // Between the transactions, because it may take long, in a thread.
    if (!isPartial) await refuseInput(compiled, input, organisation.id, '/input');
    const { workflow } = read;
    const order = {
      executionId,
      acceptedAt: now,
      workflow: {
        id,
        organisationId: organisation.id,
        name: workflow.name,
        isTestMode: (body.is_test_mode ?? workflow.is_test_mode) || again?.isTestMode === true,
      },
      ...(again === null
        ? { records: recordsOfStart(compiled, trigger, { data: input }, now) }
        : { rerunOf: again.rerunOf, records: again.records }),
      triggerType: 'manual',
      input,
      compiled,
      origin: startOrigin(call.request),
    };
    const stored = await db.forOrganisation(organisation.id, async (tx) => {
      // It may have been archived or deleted since it was read.
      refuseArchived(await lockStatus(tx, organisation.id, id));
      const version = content.version ?? (await storeTrial(tx, call, id, content.flow));
      if (types !== registry) {
        const pinned = { workflowId: id, version };
        await pinTypes(tx, organisation.id, pinned, stringifyJson(content.flow), types);
      }
      // Queued, so that it is stored together with its flow and the audit entry; any worker with a free slot takes it.
      await starter.storeQueued(tx, organisation.id, [{ ...order, version }]);
      await record(tx, call, { execution_id: executionId, workflow_id: id, version: Math.max(version, 0) });
      return { ...order, version };
    });
    starter.stored(stored);
    return { execution_id: executionId };
  });

  /** A saved version runs with the connectors it was saved with, anything else with the newest. */
  async function typesOfRun(organisationId: number, workflowId: number, { version, flow }: RunFlow) {
    if (!mayNameOwn(flow)) return registry;
    if (version === null) return typesForNewFlow(registry, db, organisationId, flow);
    const saved = { id: workflowId, version, flow_data: stringifyJson(flow) };
    return typesOfSaved(registry, db, organisationId, saved);
  }

  /** The execution whose outputs are used, if any, with its version: read before the transaction, which needs a connection itself. */
  async function formerOf(
    organisationId: number,
    workflowId: number,
    { outputs_of: id, from_node: nodeId }: RunBody,
  ): Promise<Former | null> {
    if (id === undefined) return null;
    const source = await db.forOrganisation(organisationId, (tx) => findRerunSource(tx, organisationId, id));
    if (source === undefined || source.workflow_id !== workflowId) throw noSuchExecution('/outputs_of');
    if (nodeId === undefined) return { id, source, compiled: null };
    refuseUnended(source);
    return { id, source, compiled: await plans.get(source.workflow_id, source.workflow_version) };
  }
}

/** An execution whose outputs are used. */
interface Former {
  readonly id: number;
  readonly source: RerunSource;
  /** Null unless a run starts at one of its nodes. */
  readonly compiled: CompileResult | null;
}

/** What a run from a node reuses of an execution; null for any other run. */
function repeated({ from_node: nodeId }: RunBody, former: Former | null, compiled: CompileResult) {
  if (nodeId === undefined || former === null || former.compiled === null) return null;
  refuseStart(compiled, nodeId);
  const { id, source } = former;
  const records = recordsKept(source, former.compiled, compiled, nodeId);
  return { rerunOf: id, records, input: parseJson(source.input), isTestMode: source.is_test_mode };
}

/** @throws ApiError 422 unless a run can start at the node */
function refuseStart(compiled: CompileResult, nodeId: string): void {
  if (compiled.kind !== 'plan') return;
  const index = compiled.plan.nodeIndexes.get(nodeId);
  const node = index === undefined ? undefined : compiled.plan.nodes[index];
  if (node?.scope === compiled.plan.root) return;
  const loop = node?.scope.loop?.id;
  const fault =
    loop === undefined
      ? message('service.trial_no_node')
      : message('service.trial_in_loop', { loop: JSON.stringify(loop) });
  throw validationError([{ pointer: '/from_node', code: 'invalid_value', message: fault }]);
}

/** Members that exclude each other; the first is at fault. */
const CLASHES: readonly (readonly [keyof RunBody, keyof RunBody])[] = [
  ['version', 'flow_data'],
  ['input_of', 'input'],
  ['from_node', 'only_node'],
  ['input', 'from_node'],
  ['input_of', 'from_node'],
];
/** A member, and those of which it requires one. */
const NEEDED: readonly (readonly [keyof RunBody, ...(keyof RunBody)[]])[] = [
  ['pinned_outputs', 'only_node'],
  ['outputs_of', 'only_node', 'from_node'],
  ['from_node', 'outputs_of'],
];

/** @throws ApiError 422 for members that exclude or lack each other */
function refuseUnfit(body: RunBody): void {
  const isGiven = (name: keyof RunBody) => body[name] !== undefined;
  const clashes = CLASHES.filter(([name, other]) => isGiven(name) && isGiven(other));
  const missing = NEEDED.filter(([name, ...others]) => isGiven(name) && !others.some(isGiven));
  const errors = [
    ...clashes.map(([name, other]) => ({ name, fault: message('api.not_with', { other }) })),
    ...missing.map(([name, other = '']) => ({ name, fault: message('api.only_with', { other }) })),
  ];
  if (errors.length === 0) return;
  throw validationError(
    errors.map(({ name, fault }) => ({ pointer: `/${name}`, code: 'not_allowed', message: fault })),
  );
}

/** What a run reads before it is checked. */
interface RunRead {
  readonly workflow: WorkflowDetailRow;
  /** The chosen earlier version; null if none was chosen. */
  readonly chosenFlow: JsonValue | null;
  readonly input: JsonValue;
}

async function readRun(tx: Queryable, organisationId: number, id: number, body: RunBody): Promise<RunRead> {
  const workflow = await requireWorkflow(tx, organisationId, id);
  refuseArchived(workflow.status);
  return {
    workflow,
    chosenFlow: await chosenFlow(tx, organisationId, id, body),
    input: await inputOf(tx, organisationId, id, body),
  };
}

function refuseArchived(status: WorkflowStatus | undefined): void {
  if (status === undefined) throw notFound('workflow');
  if (status === 'archived') throw archivedError();
}

async function chosenFlow(
  tx: Queryable,
  organisationId: number,
  workflowId: number,
  { version }: RunBody,
): Promise<JsonValue | null> {
  if (version === undefined) return null;
  const row = await findVersion(tx, organisationId, workflowId, version);
  if (row === undefined) throw notFound('version');
  return parseJson(row.flow_data);
}

function contentOf(
  { version, flow }: RunFlow,
  body: RunBody,
  former: Former | null,
  { registry, config }: Pick<AppDeps, 'registry' | 'config'>,
): RunContent {
  const checked = checkFlow(flow, registry, config.limits.nodes).flow;
  if (body.only_node !== undefined) {
    const only = {
      nodeId: body.only_node,
      pinned: body.pinned_outputs ?? {},
      fallback: outputsOf(former === null ? [] : recordsToShow(parseChunks(former.source.chunks))),
    };
    return { version: null, flow: reduceToNode(checked, registry, only) };
  }
  if (version !== null) return { version, flow: checked };
  return { version: null, flow: { ...checked, settings: trialSettings(checked.settings) } };
}

/** The requested flow; without a version it isn't saved. */
interface RunFlow {
  readonly version: number | null;
  readonly flow: JsonValue;
}

/** A draft identical to the saved version is no longer a draft. */
function flowOf({ workflow, chosenFlow: chosen }: RunRead, { flow_data: draft, version }: RunBody): RunFlow {
  if (version !== undefined && chosen !== null) return { version, flow: chosen };
  const saved = parseJson(workflow.flow_data);
  if (draft === undefined) return { version: workflow.version, flow: saved };
  const isSaved = canonicalJson(draft) === canonicalJson(saved);
  return { version: isSaved ? workflow.version : null, flow: draft };
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
async function compileSound(flow: Flow, registry: NodeRegistry, isReduced: boolean): Promise<CompileResult> {
  if (!isReduced) await refuseProblems(flow, registry);
  else {
    const problems = await finishInTurns(findProblemsWork(flow, registry));
    const errors = problems.map(({ code, message: said }) => ({
      pointer: '/only_node',
      code,
      message: said,
    }));
    if (errors.length > 0) throw validationError(errors);
  }
  return finishInTurns(compileWork(flow, registry));
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
