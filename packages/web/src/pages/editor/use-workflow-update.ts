import type { Body } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { endpointKey } from '@millrace/ui/api/query.ts';
import { showChangedWorkflow } from '@millrace/ui/api/workflow-cache.ts';
import { notifyFailure } from '@millrace/ui/components/notify.ts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEditorPage } from './editor-context.ts';

const DETAIL = 'GET /orgs/:org/workflows/:id';

/** Changes what is not the flow: name, status, test mode. */
export function useWorkflowUpdate() {
  const { org, workflow } = useEditorPage();
  const queryClient = useQueryClient();
  const params = { org, id: workflow.id };
  return useMutation({
    mutationFn: (change: Omit<Body<'PUT /orgs/:org/workflows/:id'>, 'updated_at'>) =>
      call('PUT /orgs/:org/workflows/:id', { params, body: { updated_at: workflow.updated_at, ...change } }),
    onSuccess: (changed) => {
      void showChangedWorkflow(queryClient, params, changed);
    },
    onError: (error) => {
      notifyFailure(error);
      // Somebody else was quicker: what they changed is shown.
      void queryClient.invalidateQueries({ queryKey: endpointKey(DETAIL, { params }) });
    },
  });
}
