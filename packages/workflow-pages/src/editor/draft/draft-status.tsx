import { Text, Tooltip } from '@mantine/core';
import { useEditor } from '@millrace/editor-model/store.ts';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { Check, CloudOff, LoaderCircle } from 'lucide-react';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { useDraftSync, useDraftSyncState, useEditorPage } from '../editor-context.ts';
import { useDraftFailure } from './draft-failure.tsx';

/** Loaded when there is a conflict. */
const ConflictDialog = lazyPart(async () => (await import('./conflict-dialog.tsx')).ConflictDialog);

/** Saves the draft while the user edits, and shows its state. */
export function DraftStatus() {
  const { t, i18n } = useTranslation();
  const { draftSync, workflow } = useEditorPage();
  const { status, keptAt } = useDraftSyncState('status', 'keptAt');
  const hasConflict = useDraftSync((state) => state.conflict !== null);
  const changeCount = useEditor((state) => state.changeCount);

  useEffect(() => draftSync.changed(), [changeCount, draftSync]);

  useEffect(() => {
    const leave = (isLast: boolean) => draftSync.leave(isLast);
    const stop = new AbortController();
    const { signal } = stop;
    draftSync.start();
    window.addEventListener('pagehide', () => leave(true), { signal });
    window.addEventListener('blur', () => leave(false), { signal });
    document.addEventListener(
      'visibilitychange',
      () => {
        if (document.visibilityState === 'hidden') leave(false);
      },
      { signal },
    );
    window.addEventListener(
      'beforeunload',
      (event) => {
        // While the service is unreachable, or the browser has no room for what is in flight, work can be lost.
        const isSafe = draftSync.putAside() && draftSync.state.getState().status !== 'failed';
        if (!isSafe) event.preventDefault();
      },
      { signal },
    );
    return () => {
      stop.abort();
      leave(false);
      draftSync.stop();
    };
  }, [draftSync]);

  const failure = useDraftFailure();
  const hint = status === 'failed' ? failure : t(`workplace.draft.hint.${status}`);
  const time = keptAt === null ? '' : timeOf(keptAt, i18n.language);
  return (
    <>
      <Tooltip label={hint} multiline maw={280} style={{ overflowWrap: 'anywhere' }}>
        <Text size="xs" c={status === 'failed' ? 'red' : 'dimmed'} className="editor-state" role="status">
          {status === 'failed' ? (
            <CloudOff size={13} aria-hidden />
          ) : status === 'changed' ? (
            <LoaderCircle size={13} aria-hidden />
          ) : (
            <Check size={13} aria-hidden />
          )}
          <span>{t(`workplace.draft.state.${status}`, { time, version: workflow.version })}</span>
        </Text>
      </Tooltip>
      {hasConflict && <ConflictDialog />}
    </>
  );
}

function timeOf(at: string, language: string): string {
  return new Date(at).toLocaleTimeString(language, { hour: '2-digit', minute: '2-digit' });
}
