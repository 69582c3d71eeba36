import type { WorkflowDetail } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { showChangedWorkflow } from '@millrace/ui/api/workflow-cache.ts';
import { notifyDone, notifyFailure } from '@millrace/ui/components/notify.ts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';

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
