import type { WorkflowDetail } from '@millrace/admin-api';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { call } from '../../../api/client.ts';
import { showChangedWorkflow } from '../../../api/workflow-cache.ts';
import { notifyDone, notifyFailure } from '../../../ui/notify.ts';

/** Saves a version anew as the latest one; my draft goes with it. */
export function useRestoreVersion(
  { org, workflow }: { readonly org: number; readonly workflow: WorkflowDetail },
  onRestored: (workflow: WorkflowDetail) => void,
) {
  const { t } = useTranslation();
  const queryClient = useQueryClient();
  const params = { org, id: workflow.id };
  return useMutation({
    mutationFn: (from: { readonly version: number; readonly baseVersion: number }) =>
      call('POST /orgs/:org/workflows/:id/versions/:version/restore', {
        params: { ...params, version: from.version },
        body: { base_version: from.baseVersion, discards_draft: true },
      }),
    onSuccess: async (restored, { version }) => {
      await showChangedWorkflow(queryClient, params, restored);
      notifyDone(t('editor.versions.restored', { version }));
      onRestored(restored);
    },
    onError: notifyFailure,
  });
}
