import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { notifyDone, notifyFailure } from '@millrace/ui/components/notify.ts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { NewWorkflow } from './read-import.ts';

/** Creates a workflow and opens it in the editor. */
export function useCreateWorkflow() {
  const { t } = useTranslation();
  const org = useOrg();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (body: NewWorkflow) => call('POST /orgs/:org/workflows', { params: { org }, body }),
    onSuccess: async ({ workflow, companions }) => {
      const others = companions.map(({ name }) => name).join(', ');
      notifyDone(
        others === ''
          ? t('workflows.created', { name: workflow.name })
          : t('workflows.createdWith', { name: workflow.name, others }),
      );
      await queryClient.invalidateQueries({ queryKey: ['GET /orgs/:org/workflows'] });
      await navigate({ to: `/o/${org}/workflows/${workflow.id}` });
    },
    onError: notifyFailure,
  });
}
