import { ApiError, notFound } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { StartableWorkflow, StartOrder } from '@millrace/runtime/start-row';

/** What is to be started; the rest of the order comes from the look-up. */
export type StartContent = Pick<
  StartOrder,
  'version' | 'isTestMode' | 'input' | 'triggerType' | 'compiled' | 'rerunOf' | 'records'
>;

/** @throws ApiError 404, 409 `workflow_inactive` or `workflow_archived` */
export function startable(workflow: StartableWorkflow | null): StartableWorkflow {
  if (workflow === null) throw notFound('workflow');
  if (workflow.status === 'archived') {
    throw new ApiError('workflow_archived', message('service.start_archived'));
  }
  if (workflow.status === 'inactive') {
    throw new ApiError('workflow_inactive', message('service.start_inactive'));
  }
  return workflow;
}
