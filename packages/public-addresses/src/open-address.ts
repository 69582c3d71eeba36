import type { CompileResult } from '@millrace/engine';
import type { PlanCache } from '@millrace/runtime/plans';
import type { StartableWorkflow } from '@millrace/runtime/start-row';
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
