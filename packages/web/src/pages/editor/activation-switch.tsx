import { Switch, Tooltip } from '@mantine/core';
import { useEditorStore } from '@millrace/editor/model/store.ts';
import { notifyFailure } from '@millrace/ui/components/notify.ts';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useEditorPage } from './editor-context.ts';
import { useWorkflowUpdate } from './use-workflow-update.ts';

/** Puts what is on the canvas into use, or takes the workflow out of use. */
export function ActivationSwitch({ onActivated }: { onActivated: () => void }) {
  const { t } = useTranslation();
  const { workflow, draftSync, save, showProblems, watch } = useEditorPage();
  const store = useEditorStore();
  const update = useWorkflowUpdate();
  const [isSaving, setIsSaving] = useState(false);
  const isActive = workflow.status === 'active';
  const activate = async () => {
    setIsSaving(true);
    try {
      // The problems known are those of the draft sent last.
      if (draftSync.state.getState().status !== 'same') await draftSync.keepNow();
      if (store.getState().problems.length > 0) return showProblems();
      // A conflict is shown by the page.
      if (!(await save())) return;
      await update.mutateAsync({ status: 'active' });
      watch.next();
      onActivated();
    } catch (error) {
      // A refused change of status has been reported.
      if (!update.isError) notifyFailure(error as Error);
    } finally {
      setIsSaving(false);
    }
  };
  return (
    <Tooltip label={t(`editor.switch.${isActive ? 'on' : 'off'}`)} multiline maw={280}>
      <div>
        <Switch
          size="xs"
          color="green"
          label={t('editor.switch.label')}
          checked={isActive}
          disabled={update.isPending || isSaving}
          onChange={() => (isActive ? update.mutate({ status: 'inactive' }) : void activate())}
        />
      </div>
    </Tooltip>
  );
}
