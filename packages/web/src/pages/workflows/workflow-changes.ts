import type { Body } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointKey } from '@millrace/ui/api/query.ts';
import { showChangedWorkflow } from '@millrace/ui/api/workflow-cache.ts';
import { notifyDone, notifyFailure } from '@millrace/ui/components/notify.ts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';

/** Changes of a workflow as a whole; the list is read again after each. */
export function useWorkflowChanges(id: number) {
  const { t } = useTranslation();
  const org = useOrg();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const params = { org, id };
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['GET /orgs/:org/workflows'] });

  return {
    update: useMutation({
      mutationFn: (change: Body<'PUT /orgs/:org/workflows/:id'>) =>
        call('PUT /orgs/:org/workflows/:id', { params, body: change }),
      onSuccess: (changed) => showChangedWorkflow(queryClient, params, changed),
      onError: async (error) => {
        notifyFailure(error);
        // Somebody else was quicker: what they changed is shown.
        await Promise.all([
          refresh(),
          queryClient.invalidateQueries({
            queryKey: endpointKey('GET /orgs/:org/workflows/:id', { params }),
          }),
        ]);
      },
    }),
    duplicate: useMutation({
      mutationFn: (name: string) =>
        call('POST /orgs/:org/workflows/:id/duplicate', { params, body: { name } }),
      onSuccess: async (copy) => {
        notifyDone(t('workflows.duplicated', { name: copy.name }));
        await navigate({ to: `/o/${org}/workflows/${copy.id}` });
      },
      onError: notifyFailure,
    }),
    archive: useMutation({
      mutationFn: () => call('POST /orgs/:org/workflows/:id/archive', { params }),
      onSuccess: async (archived) => {
        notifyDone(t('workflows.archived', { name: archived.name }));
        await showChangedWorkflow(queryClient, params, archived);
      },
      onError: notifyFailure,
    }),
    restore: useMutation({
      mutationFn: () => call('POST /orgs/:org/workflows/:id/restore', { params }),
      onSuccess: async (restored) => {
        notifyDone(t('workflows.restored', { name: restored.name }));
        await showChangedWorkflow(queryClient, params, restored);
      },
      onError: notifyFailure,
    }),
    remove: useMutation({
      mutationFn: (name: string) => call('DELETE /orgs/:org/workflows/:id', { params, body: { name } }),
      onSuccess: async (_nothing, name) => {
        notifyDone(t('workflows.deleted', { name }));
        await refresh();
      },
      onError: notifyFailure,
    }),
  };
}
