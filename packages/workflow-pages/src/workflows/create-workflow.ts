import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { NewWorkflow } from './read-import.ts';

/**
 * Creates a workflow and opens it in the editor.
 * @param note what is added to the message that it was created
 */
export function useCreateWorkflow(note = () => '') {
  const { t } = useTranslation();
  const org = useOrg();
  const navigate = useNavigate();
  return useChange((body: NewWorkflow) => call('POST /orgs/:org/workflows', { params: { org }, body }), {
    done: ({ workflow: { name }, companions }) => {
      const others = companions.map((companion) => companion.name).join(t('common.listSeparator'));
      const created =
        others === '' ? t('workflows.created', { name }) : t('workflows.createdWith', { name, others });
      return `${created} ${note()}`.trim();
    },
    refreshes: ['GET /orgs/:org/workflows', 'GET /orgs/:org/first-steps'],
    onSuccess: ({ workflow }) => navigate({ to: `/o/${org}/workflows/${workflow.id}` }),
  });
}
