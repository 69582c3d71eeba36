import '@millrace/ui/i18n/parts/workflow.ts';
import type { Body, WorkflowDetail } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointKey } from '@millrace/ui/api/query.ts';
import { showChangedWorkflow } from '@millrace/ui/api/workflow-cache.ts';
import { notifyDone, notifyFailure } from '@millrace/ui/components/notify.ts';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';

/** Changes of a whole workflow; each refetches the list. */
export function useWorkflowChanges(id: number) {
  const { t } = useTranslation();
  const org = useOrg();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const params = { org, id };
  const show = (changed: WorkflowDetail) => showChangedWorkflow(queryClient, params, changed);
  return {
    update: useChange(
      (body: Body<'PUT /orgs/:org/workflows/:id'>) => call('PUT /orgs/:org/workflows/:id', { params, body }),
      {
        onSuccess: show,
        onError: async (error) => {
          notifyFailure(error);
          // Someone else saved first: show their changes.
          await Promise.all(
            [['GET /orgs/:org/workflows'], endpointKey('GET /orgs/:org/workflows/:id', { params })].map(
              (queryKey) => queryClient.invalidateQueries({ queryKey }),
            ),
          );
        },
      },
    ),
    duplicate: useChange(
      (name: string) => call('POST /orgs/:org/workflows/:id/duplicate', { params, body: { name } }),
      {
        done: ({ name }) => t('workflow.duplicated', { name }),
        onSuccess: (copy) => navigate({ to: `/o/${org}/workflows/${copy.id}` }),
      },
    ),
    archive: useChange(() => call('POST /orgs/:org/workflows/:id/archive', { params }), {
      done: ({ name }) => t('workflow.archived', { name }),
      onSuccess: show,
    }),
    restore: useChange(() => call('POST /orgs/:org/workflows/:id/restore', { params }), {
      done: ({ name }) => t('workflow.restored', { name }),
      onSuccess: show,
    }),
    remove: useChange((name: string) => call('DELETE /orgs/:org/workflows/:id', { params, body: { name } }), {
      onSuccess: (_nothing, name) => notifyDone(t('workflow.deleted', { name })),
      refreshes: ['GET /orgs/:org/workflows'],
    }),
  };
}
