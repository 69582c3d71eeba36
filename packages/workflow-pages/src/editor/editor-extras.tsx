import '@millrace/ui/i18n/parts/workplace.ts';
import '@millrace/ui/i18n/parts/versions.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import { useEditor } from '@millrace/editor-model/store.ts';
import { useRole } from '@millrace/ui/api/me.ts';
import { useEffect } from 'react';
import { useEditorPage } from './editor-context.ts';
import { NewerVersion } from './newer-version.tsx';
import { OfferedCredential } from './offered-credential.tsx';
import { DebugBar } from './trying/debug-bar.tsx';

/** What few visits of the editor show: that somebody else works on it, an execution's data, and a pasted secret. */
export function EditorExtras({ execution }: { execution: number | null }) {
  const { can } = useRole();
  const { follow } = useEditorPage().trial;
  const offered = useEditor((state) => state.offeredCredential);
  useEffect(() => {
    if (execution !== null) follow(execution);
  }, [execution, follow]);
  return (
    <>
      <NewerVersion />
      {execution !== null && can('editor') && <DebugBar executionId={execution} />}
      {offered !== null && <OfferedCredential {...offered} />}
    </>
  );
}
