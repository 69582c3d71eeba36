import { useEditorStore } from '@millrace/editor-model/store.ts';
import { notifyFailure } from '@millrace/ui/components/notify.ts';
import { useState } from 'react';
import { useEditorPage } from './editor-context.ts';
import { useWorkflowUpdate } from './use-workflow-update.ts';

/** Putting what is on the canvas into use, and taking the workflow out of use. */
export function useActivation(): {
  /** Saves first; then shows the next execution, whoever starts it. */
  readonly activate: () => void;
  readonly deactivate: () => void;
  readonly isBusy: boolean;
} {
  const { draftSync, save, showProblems, showRun, watch } = useEditorPage();
  const store = useEditorStore();
  const update = useWorkflowUpdate();
  const [isSaving, setIsSaving] = useState(false);
  const activate = async () => {
    setIsSaving(true);
    try {
      // The problems known are those of the draft sent last.
      if (draftSync.state.getState().status !== 'same') await draftSync.keepNow();
      if (store.getState().problems.length > 0) return showProblems();
      // A conflict is shown by the page.
      if (!(await save())) return;
      update.mutate(
        { status: 'active' },
        {
          onSuccess() {
            watch.next();
            showRun();
          },
        },
      );
    } catch (error) {
      notifyFailure(error as Error);
    } finally {
      setIsSaving(false);
    }
  };
  return {
    activate: () => void activate(),
    deactivate: () => update.mutate({ status: 'inactive' }),
    isBusy: isSaving || update.isPending,
  };
}
