import { Button } from '@mantine/core';
import type { WorkflowDetail } from '@millrace/admin-api';
import { useRole } from '@millrace/ui/api/me.ts';
import { ConfirmDialog } from '@millrace/ui/components/form-dialog.tsx';
import { RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useRestoreVersion } from './restore-version.ts';

/** Restores a version after asking; nothing for who may not, and in an archived workflow. */
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
  /** The saved version that whoever restores knows of. */
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
        {t('editor.versions.restore')}
      </Button>
      <ConfirmDialog
        isOpen={isAsking}
        title={t('editor.versions.restoreTitle', { version })}
        action={t('editor.versions.restore')}
        onConfirm={() => {
          setIsAsking(false);
          restore.mutate({ version, baseVersion: baseVersion() });
        }}
        onClose={() => setIsAsking(false)}
      >
        {t('editor.versions.restoreText', { version })}
      </ConfirmDialog>
    </>
  );
}
