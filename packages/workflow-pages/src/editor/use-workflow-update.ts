import type { Body, WorkflowDetail } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { endpointKey } from '@millrace/ui/api/query.ts';
import { showChangedWorkflow } from '@millrace/ui/api/workflow-cache.ts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEditorPage } from './editor-context.ts';

const DETAIL = 'GET /orgs/:org/workflows/:id';

/** Changes properties other than the flow: name, status, test mode. */
export function useWorkflowUpdate() {
  const { org, workflow, showRefusal } = useEditorPage();
  const queryClient = useQueryClient();
  const params = { org, id: workflow.id };
  return useMutation({
    mutationFn: (change: Omit<Body<'PUT /orgs/:org/workflows/:id'>, 'updated_at'>) => {
      // It may have been saved a moment ago, and not been drawn since.
      const now = queryClient.getQueryData<WorkflowDetail>(endpointKey(DETAIL, { params })) ?? workflow;
      const body = { updated_at: now.updated_at, ...change };
      return call('PUT /orgs/:org/workflows/:id', { params, body });
    },
    onSuccess: (changed) => {
      void showChangedWorkflow(queryClient, params, changed);
    },
    onError: (error) => {
      showRefusal(error);
      // Someone else saved first: show their changes.
      void queryClient.invalidateQueries({ queryKey: endpointKey(DETAIL, { params }) });
    },
  });
}
