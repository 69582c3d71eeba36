import type { CompileResult, JsonObject, JsonValue } from '@millrace/engine';
import { startOrigin } from '@millrace/http/origin';
import type { PlanCache } from '@millrace/runtime/plans';
import { recordsOfStart, type StartableWorkflow, type StartOrder } from '@millrace/runtime/start-row';
import type { Starter } from '@millrace/service/executions/accept';
import type { StartLookup } from '@millrace/service/executions/store';
import type { FastifyRequest } from 'fastify';

const HASH = /^[A-Za-z0-9_-]{43}$/;

/** A public address that belongs to a workflow. */
export interface OpenAddress {
  readonly found: StartLookup;
  readonly workflow: StartableWorkflow;
  readonly compiled: CompileResult;
}

/** The workflow with this trigger that an address belongs to; null if there is none. */
export async function openAddress(
  { starter, plans }: { readonly starter: Starter; readonly plans: PlanCache },
  request: FastifyRequest<{ Params: { hash: string } }>,
  trigger: string,
): Promise<OpenAddress | null> {
  const { hash } = request.params;
  const found = HASH.test(hash) ? await starter.lookUpAddress({ hash, trigger }) : null;
  const workflow = found?.workflow ?? null;
  if (found === null || workflow === null) {
    request.forgetSecret?.();
    return null;
  }
  return { found, workflow, compiled: await plans.get(workflow.id, workflow.version) };
}

/** What a call starts. */
interface Call {
  readonly triggerType: string;
  /** Of its trigger. */
  readonly nodeId: string;
  readonly input: JsonValue;
  /** Ids of those that were sent with it. */
  readonly files: readonly string[];
  /** What the trigger keeps of the request besides its input; absent or null for nothing. */
  readonly kept?: JsonObject | null;
}

/** The start that a call of an address asks for. */
export function orderOf(
  { found: { executionId, now: acceptedAt }, workflow, compiled }: OpenAddress,
  request: FastifyRequest,
  { triggerType, nodeId, input, files, kept = null }: Call,
): StartOrder {
  const more = kept === null ? {} : { request: kept };
  return {
    executionId,
    acceptedAt,
    workflow,
    version: workflow.version,
    triggerType,
    input,
    compiled,
    ...(compiled.kind === 'invalid' ? {} : more),
    records: recordsOfStart(compiled, nodeId, { data: input, ...more }, acceptedAt),
    origin: startOrigin(request),
    ...(files.length === 0 ? {} : { files }),
  };
}
