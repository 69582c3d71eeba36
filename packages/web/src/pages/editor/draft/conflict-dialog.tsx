import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { Flow } from '@millrace/engine';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useEditorStore } from '../../../canvas/store.ts';
import { notifyDone, notifyFailure } from '../../../ui/notify.ts';
import { useEditorPage, useKeeper } from '../editor-context.ts';
import { FlowDifferenceView } from '../versions/flow-difference.tsx';

/** Two have changed the same: shows both and lets one decide. Nothing is overwritten without it. */
export function ConflictDialog() {
  const { t } = useTranslation();
  const { keeper } = useEditorPage();
  const store = useEditorStore();
  const conflict = useKeeper((state) => state.conflict);
  const [isBusy, setIsBusy] = useState(false);
  if (conflict === null) return null;
  const isVersion = conflict.kind === 'version';
  const theirs = (
    isVersion ? conflict.version.flow_data : (conflict.draft?.flow_data ?? null)
  ) as Flow | null;
  const author = isVersion ? (conflict.version.author?.name ?? t('editor.versions.somebody')) : '';
  const takeTheirs = () => {
    if (theirs === null) return;
    // One step of undo, should it have been the wrong choice.
    store.getState().replaceFlow(theirs);
    if (isVersion) {
      // The canvas equals the version; what the draft held would hide it the next time.
      keeper.state.setState({ baseVersion: conflict.version.version, conflict: null });
      void keeper.save();
    } else if (conflict.draft !== null) {
      keeper.adopt({ version: conflict.draft.base_version, draft: conflict.draft });
    }
  };
  const keepMine = async () => {
    setIsBusy(true);
    try {
      if ((await keeper.keepMine()) && isVersion) notifyDone(t('editor.save.done'));
    } catch (error) {
      notifyFailure(error as Error);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <Modal
      closeButtonProps={{ 'aria-label': t('common.close') }}
      opened
      size="90rem"
      onClose={() => keeper.postpone()}
      title={isVersion ? t('editor.conflict.versionTitle') : t('editor.conflict.draftTitle')}
    >
      <Stack gap="sm">
        <Text size="sm">
          {isVersion
            ? t('editor.conflict.versionText', { version: conflict.version.version, author })
            : theirs === null
              ? t('editor.conflict.draftGone')
              : t('editor.conflict.draftText')}
        </Text>
        {theirs !== null && (
          <FlowDifferenceView
            before={theirs}
            after={store.getState().toFlow()}
            labels={[
              isVersion
                ? t('editor.versions.version', { version: conflict.version.version })
                : t('editor.conflict.otherTab'),
              t('editor.conflict.mine'),
            ]}
          />
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={() => keeper.postpone()}>
            {t('editor.conflict.later')}
          </Button>
          {theirs !== null && (
            <Button variant="default" onClick={takeTheirs}>
              {isVersion ? t('editor.conflict.takeVersion') : t('editor.conflict.takeDraft')}
            </Button>
          )}
          <Button onClick={() => void keepMine()} loading={isBusy}>
            {isVersion ? t('editor.conflict.saveMine') : t('editor.conflict.keepMine')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
