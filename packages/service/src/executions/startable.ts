import { ApiError, notFound } from '@millrace/errors/errors';
import type { StartableWorkflow, StartOrder } from '@millrace/runtime/start-row';

/** What is to be started; the rest of the order follows from the look-up. */
export type StartContent = Pick<
  StartOrder,
  'version' | 'isTestMode' | 'input' | 'triggerType' | 'compiled' | 'rerunOf' | 'records'
>;

/** @throws ApiError 404, 409 `workflow_inactive` or `workflow_archived` */
export function startable(workflow: StartableWorkflow | null): StartableWorkflow {
  if (workflow === null) throw notFound('workflow');
  if (workflow.status === 'archived') {
    throw new ApiError(
      'workflow_archived',
      'Archived workflows cannot be started. Restore it: PUT {"status": "inactive"}.',
    );
  }
  if (workflow.status === 'inactive') {
    throw new ApiError(
      'workflow_inactive',
      'Inactive workflows cannot be started. Activate it: PUT {"status": "active"}.',
    );
  }
  return workflow;
}
