import { flowOf } from '../../../runtime/test/worker/flows.ts';
import type { WorkingService } from '../../../runtime/test/worker/service-with-worker.ts';

export const DETAIL = 'GET /orgs/:org/executions/:execution';
export const CANCEL = 'POST /orgs/:org/executions/:execution/cancel';
export const RERUN = 'POST /orgs/:org/executions/:execution/rerun';

/** What the effect node does, its other data, and more fields of the workflow. */
export type Act = [
  behaviour: Parameters<WorkingService['behaviours']['set']>[1],
  data?: object,
  more?: object,
];

/** An ended execution of a flow of consecutive effect nodes. */
export async function endedExecution(service: WorkingService, ...[behaviour, data = {}, more = {}]: Act) {
  const name = `do ${service.behaviours.size}`;
  service.behaviours.set(name, behaviour);
  const flow = flowOf(
    [
      ['first', 'core.set', { config: { values: { a: 1 } } }],
      ['act', 'test.effect', { config: { do: name }, ...data }],
    ],
    ['start>first', 'first>act'],
  );
  const workflowId = await service.createWorkflow(flow, more);
  const id = await service.execute(workflowId, { order: 17 });
  await service.finished(id);
  return { id, workflowId };
}
