import { Text, Tooltip } from '@mantine/core';
import { Check, CloudOff, LoaderCircle } from 'lucide-react';
import { useEffect, useEffectEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useMe } from '../../../api/me.ts';
import { useEditor, useEditorStore } from '../../../canvas/store.ts';
import { useEditorPage, useKeeper } from '../editor-context.ts';
import { ConflictDialog } from './conflict-dialog.tsx';
import { putLocalCopy } from './local-copy.ts';

/** Keeps the draft while one works, and says how far it has got. */
export function DraftKeeper() {
  const { t, i18n } = useTranslation();
  const { keeper, workflow } = useEditorPage();
  const store = useEditorStore();
  const userId = useMe()?.user.id ?? 0;
  const status = useKeeper((state) => state.status);
  const keptAt = useKeeper((state) => state.keptAt);
  const changeCount = useEditor((state) => state.changeCount);

  useEffect(() => keeper.changed(), [changeCount, keeper]);

  const leave = useEffectEvent((isLast: boolean) => {
    if (!keeper.hasUnkept) return;
    const { baseVersion, revision, isUnderWay } = keeper.state.getState();
    const flow = store.getState().toFlow();
    putLocalCopy(userId, workflow.id, { flow, baseVersion, revision, wasUnderWay: true });
    if (!isUnderWay || !isLast) void keeper.keepNow(isLast);
  });
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    window.addEventListener('pagehide', () => leave(true), { signal });
    window.addEventListener('blur', () => leave(false), { signal });
    document.addEventListener(
      'visibilitychange',
      () => {
        if (document.visibilityState === 'hidden') leave(true);
      },
      { signal },
    );
    window.addEventListener(
      'beforeunload',
      (event) => {
        // Only while the service cannot be reached is there anything to lose.
        if (keeper.state.getState().status === 'failed') event.preventDefault();
      },
      { signal },
    );
    return () => {
      stop.abort();
      leave(false);
      keeper.stop();
    };
  }, [keeper]);

  const time = keptAt === null ? '' : timeOf(keptAt, i18n.language);
  return (
    <>
      <Tooltip label={t(`editor.draft.${status}Hint`)} multiline maw={280}>
        <Text size="xs" c={status === 'failed' ? 'red' : 'dimmed'} className="editor-state" role="status">
          {status === 'failed' ? (
            <CloudOff size={13} aria-hidden />
          ) : status === 'changed' ? (
            <LoaderCircle size={13} aria-hidden />
          ) : (
            <Check size={13} aria-hidden />
          )}
          <span>{t(`editor.draft.${status}`, { time, version: workflow.version })}</span>
        </Text>
      </Tooltip>
      <ConflictDialog />
    </>
  );
}

function timeOf(at: string, language: string): string {
  return new Date(at).toLocaleTimeString(language, { hour: '2-digit', minute: '2-digit' });
}
