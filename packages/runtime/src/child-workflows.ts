import type { Database } from '@millrace/database/database';
import {
  type ChildKey,
  type ChildResult,
  findFiles,
  inputSchemaOf,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  parseJson,
  readError,
  resultOf,
  type SchemaError,
  ServiceError,
  type WorkflowService,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import type { BorrowedSlots } from './borrowed-slots.ts';
import { findChildByKey, insertChild } from './child-statements.ts';
import { type Callee, type ChildRow, findCallee, findChildRow, shareFiles } from './child-store.ts';
import { readChunks } from './chunks.ts';
import { MAX_DEPTH } from './depth.ts';
import type { Meters } from './meters/meters.ts';
import type { Caller } from './node-services.ts';
import type { ExecutionNotifier } from './notifier.ts';
import type { PlanCache } from './plans.ts';
import { retryForNode } from './retry-for-node.ts';
import type { StartableWorkflow } from './start-row.ts';
import { toStartRow } from './start-row.ts';
import { waitForEnd, watchExecution } from './watch.ts';

/** The faults of an input according to the workflow's input schema. */
type CheckInput = (
  schema: JsonSchema | null,
  input: JsonValue,
  organisationId: number,
) => Promise<readonly SchemaError[]>;

export interface WorkflowServiceDeps {
  readonly checkInput: CheckInput;
  readonly db: Database;
  readonly plans: PlanCache;
  readonly notifier: Pick<ExecutionNotifier, 'subscribe'>;
  /** The worker's, so that waiting here for a child doesn't keep the child from running. */
  readonly slots: BorrowedSlots;
  /** What this process counts; if absent, nobody reads it. */
  readonly meters?: Meters;
}

/** Starts other workflows of the caller's organisation as children of its execution. */
export function createWorkflowService(deps: WorkflowServiceDeps): (caller: Caller) => WorkflowService {
  return (caller) => ({
    start: (order) => retryForNode(() => startChild(deps, caller, order)),
    result: (executionId) => retryForNode(() => readResult(deps, caller, executionId)),
    ended: (executionId, signal) => readEnd(deps, caller, executionId, signal),
  });
}

type Order = Parameters<WorkflowService['start']>[0];
type StartedChild = Awaited<ReturnType<WorkflowService['start']>>;

async function startChild(deps: WorkflowServiceDeps, caller: Caller, order: Order): Promise<StartedChild> {
  const { executionId, nodeId, iteration } = caller;
  const key = { executionId, nodeId, iteration, callKey: callKeyOf(caller, order) };
  // An attempt whose result was lost may have started it, and the workflow may have been archived since.
  const known = await findStarted(deps, key);
  if (known !== null) return known;
  const callee = await findCallee(deps.db, caller.organisationId, order.workflowId, executionId);
  const workflow = startable(callee, order.workflowId);
  if (callee === undefined || callee.depth >= MAX_DEPTH) throw tooDeep();
  const compiled = await deps.plans.get(workflow.id, workflow.version);
  await refuseInput(deps, inputSchemaOf(compiled), order.input, workflow);
  const row = toStartRow({
    executionId: callee.executionId,
    acceptedAt: callee.now,
    workflow: { ...workflow, isTestMode: workflow.isTestMode || caller.isTestMode },
    version: workflow.version,
    triggerType: 'flow',
    filesOf: executionId,
    input: order.input,
    compiled,
  });
  const traceparent = caller.trace?.traceparent ?? null;
  await deps.db.transaction((tx) =>
    insertChild(tx, { ...row, traceparent, parent: { ...key, waits: order.waits } }),
  );
  const started = await findStarted(deps, key);
  if (started?.executionId === callee.executionId) deps.meters?.startsAccepted('flow', caller.organisationId);
  if (started !== null) return started;
  throw new ServiceError('execution_ended', message('ports.caller_ended'));
}

/** Another attempt of a loop reruns its body, so its calls are different ones. */
function callKeyOf({ loopAttempts }: Caller, { callKey }: Order): string {
  return loopAttempts === undefined ? callKey : `${callKey} in attempt ${loopAttempts.join('.')}`;
}

async function findStarted({ db }: WorkflowServiceDeps, key: ChildKey): Promise<StartedChild | null> {
  const [row] = await findChildByKey(db, key);
  return row === undefined ? null : { executionId: row.id, workflowVersion: row.workflow_version };
}

function startable(callee: Callee | undefined, workflowId: number): StartableWorkflow {
  const workflow = callee?.workflow ?? null;
  if (workflow === null) {
    throw new ServiceError('workflow_not_found', message('ports.workflow_not_found', { id: workflowId }));
  }
  const { status, name } = workflow;
  if (status === 'archived' || status === 'inactive') {
    const obstacle =
      status === 'archived'
        ? message('ports.workflow_archived', { id: workflowId, name })
        : message('ports.workflow_inactive', { id: workflowId, name });
    throw new ServiceError(`workflow_${status}`, obstacle);
  }
  return workflow;
}

function tooDeep(): ServiceError {
  return new ServiceError('recursion_limit', message('ports.recursion_limit', { max: MAX_DEPTH }));
}

async function refuseInput(
  { checkInput }: Pick<WorkflowServiceDeps, 'checkInput'>,
  schema: JsonSchema | null,
  input: JsonValue,
  { id, organisationId }: StartableWorkflow,
): Promise<void> {
  const [first] = await checkInput(schema, input, organisationId);
  if (first === undefined) return;
  const { pointer, message: problem } = first;
  const fault =
    pointer === ''
      ? message('ports.at_input', { fault: problem })
      : message('ports.at_input_pointer', { pointer, fault: problem });
  throw new ServiceError('invalid_input', message('ports.input_refused', { id, fault }));
}

async function readResult(
  { db, plans }: WorkflowServiceDeps,
  { organisationId, executionId: parentId }: Caller,
  executionId: number,
): Promise<ChildResult> {
  const row = await findChildRow(db, organisationId, parentId, executionId);
  if (row === undefined) {
    throw new ServiceError('execution_not_found', message('ports.child_not_found', { id: executionId }));
  }
  const { status, consumed_ai_tokens: consumedAiTokens } = row;
  const output = await outputOf(plans, row);
  if (row.chunks?.includes('"$file"') === true) {
    const ids = findFiles(output).map(({ id }) => id);
    await shareFiles(db, { organisationId, from: row.id, to: parentId }, ids);
  }
  return { executionId, status, output, error: errorOf(row), consumedAiTokens };
}

async function outputOf(plans: PlanCache, row: ChildRow): Promise<JsonObject> {
  if (row.status !== 'completed') return {};
  const compiled = await plans.get(row.workflow_id, row.workflow_version);
  if (compiled.kind !== 'plan') return {};
  return resultOf(
    compiled.plan,
    (await readChunks(row.chunks)).flatMap(({ records }) => records),
  );
}

function errorOf({ error }: ChildRow): ChildResult['error'] {
  return error === null ? null : readError(parseJson(error));
}

async function readEnd(
  deps: WorkflowServiceDeps,
  caller: Caller,
  executionId: number,
  signal: AbortSignal,
): Promise<ChildResult> {
  const watch = watchExecution(deps.notifier, executionId, signal);
  const returnSlot = deps.slots.borrow(caller.executionId);
  try {
    const ended = await waitForEnd(watch, () => retryForNode(() => readResult(deps, caller, executionId)));
    if (ended !== null) return ended;
    throw new ServiceError('aborted', message('ports.wait_ended'), { retryable: true });
  } finally {
    returnSlot();
    watch.close();
  }
}
