import { type CompileResult, inputSchemaOf, type JsonValue, triggerAt } from '@millrace/engine';
import { ApiError, type FieldError, notFound } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import { checkInput } from '@millrace/ports/input-checks';
import type { StartableWorkflow, StartOrder } from '@millrace/runtime/start-row';
import type { StartLookup } from './store.ts';

/** What is to be started; the rest of the order comes from the look-up. */
export type StartContent = Pick<
  StartOrder,
  'version' | 'isTestMode' | 'input' | 'request' | 'triggerType' | 'compiled' | 'rerunOf' | 'records'
>;

/** @throws ApiError 404, 409 `workflow_inactive` or `workflow_archived`, 503 `organisation_paused` */
export function startable({
  workflow,
  isPaused,
}: Pick<StartLookup, 'workflow' | 'isPaused'>): StartableWorkflow {
  if (workflow === null) throw notFound('workflow');
  if (workflow.status === 'archived') {
    throw new ApiError('workflow_archived', message('service.start_archived'));
  }
  if (workflow.status === 'inactive') {
    throw new ApiError('workflow_inactive', message('service.start_inactive'));
  }
  if (isPaused) throw organisationPaused();
  return workflow;
}

/** Retry-After of refusals while an organisation is paused, which takes as long as its operator needs. */
const PAUSED_RETRY_S = 60;

/** Nothing of a paused organisation is started or continued. */
export function organisationPaused(): ApiError {
  return new ApiError('organisation_paused', message('service.organisation_paused'), {
    headers: { 'retry-after': String(PAUSED_RETRY_S) },
  });
}

/** The fault of a start that names a trigger which the workflow doesn't have; empty for none. @param at JSON Pointer of the name in the body */
export function faultsOfTrigger(
  compiled: CompileResult,
  nodeId: JsonValue,
  at: string,
): readonly FieldError[] {
  if (typeof nodeId !== 'string' || compiled.kind === 'invalid') return [];
  if (triggerAt(compiled.plan, nodeId) !== undefined) return [];
  const ids = compiled.plan.triggers.map(({ id }) => id).join(', ');
  return [{ pointer: at, code: 'not_found', message: message('service.start_no_such_trigger', { ids }) }];
}

/**
 * The faults of an input according to the workflow's input schema; empty if it declares none.
 * @param at JSON Pointer of the input in the body
 */
export async function faultsOfInput(
  compiled: CompileResult,
  input: JsonValue,
  organisationId: number,
  at: string,
): Promise<readonly FieldError[]> {
  const faults = await checkInput(inputSchemaOf(compiled), input, organisationId);
  return faults.map(({ pointer, code, message: said }) => ({
    pointer: `${at}${pointer}`,
    code,
    message: said,
  }));
}
