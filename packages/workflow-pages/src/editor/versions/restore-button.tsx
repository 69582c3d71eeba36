import { Button } from '@mantine/core';
import type { WorkflowDetail } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useRole } from '@millrace/ui/api/me.ts';
import { showChangedWorkflow } from '@millrace/ui/api/workflow-cache.ts';
import { ConfirmLater } from '@millrace/ui/components/confirm-later.tsx';
import { notifyDone } from '@millrace/ui/components/notify.ts';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useQueryClient } from '@tanstack/react-query';
import { RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';

/** Restores a version after confirmation; hidden without permission, and in archived workflows. */
export function RestoreButton({
  org,
  workflow,
  version,
  baseVersion,
  onRestored,
}: {
  org: number;
  workflow: WorkflowDetail;
  version: number;
  /** The current version as known to the user. */
  baseVersion: () => number;
  onRestored: (workflow: WorkflowDetail) => void;
}) {
  const { t } = useTranslation();
  const { can } = useRole();
  const [isAsking, setIsAsking] = useState(false);
  const restore = useRestoreVersion({ org, workflow }, onRestored);
  if (!can('editor') || workflow.status === 'archived') return null;
  return (
    <>
      <Button
        variant="default"
        leftSection={<RotateCcw size={14} />}
        loading={restore.isPending}
        onClick={() => setIsAsking(true)}
      >
        {t('versions.restore')}
      </Button>
      {isAsking && (
        <ConfirmLater
          title={t('versions.restoreTitle', { version })}
          action={t('versions.restore')}
          onConfirm={() => {
            setIsAsking(false);
            restore.mutate({ version, baseVersion: baseVersion() });
          }}
          onClose={() => setIsAsking(false)}
        >
          {t('versions.restoreText', { version })}
        </ConfirmLater>
      )}
    </>
  );
}

/** Saves an old version as the latest one and discards the user's draft. */
function useRestoreVersion(
  { org, workflow }: { readonly org: number; readonly workflow: WorkflowDetail },
  onRestored: (workflow: WorkflowDetail) => void,
) {
  const { t } = useTranslation();
  const queryClient = useQueryClient();
  const params = { org, id: workflow.id };
  return useChange(
    (from: { readonly version: number; readonly baseVersion: number }) =>
      call('POST /orgs/:org/workflows/:id/versions/:version/restore', {
        params: { ...params, version: from.version },
        body: { base_version: from.baseVersion, discards_draft: true },
      }),
    {
      onSuccess: async (restored, { version }) => {
        await showChangedWorkflow(queryClient, params, restored);
        notifyDone(t('versions.restored', { version }));
        onRestored(restored);
      },
    },
  );
}
