import type { WorkflowDetail } from '@millrace/admin-api';
import type { QueryClient } from '@tanstack/react-query';
import { endpointKey } from './query.ts';

/**
 * Caches a workflow returned by a change, and refetches what depends on it: its versions, its addresses and the lists
 * that include it.
 */
export function showChangedWorkflow(
  queryClient: QueryClient,
  params: { readonly org: number; readonly id: number },
  changed: WorkflowDetail,
): Promise<unknown> {
  queryClient.setQueryData(endpointKey('GET /orgs/:org/workflows/:id', { params }), changed);
  return Promise.all(
    [
      endpointKey('GET /orgs/:org/workflows/:id/versions', { params }),
      endpointKey('GET /orgs/:org/workflows/:id/webhook', { params }),
      endpointKey('GET /orgs/:org/workflows/:id/form', { params }),
      ['GET /orgs/:org/workflows'],
      ['GET /orgs/:org/workflow-tags'],
    ].map((queryKey) => queryClient.invalidateQueries({ queryKey })),
  );
}
