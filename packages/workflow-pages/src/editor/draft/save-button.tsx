import { Button, Group, Popover, Stack, TextInput } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { notifyDone, notifyFailure } from '@millrace/ui/components/notify.ts';
import { Hint } from '@millrace/ui/components/text.tsx';
import { ChevronDown, Save } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useDraftSync, useDraftSyncState, useEditorPage } from '../editor-context.ts';

const MAX_MESSAGE = 1_000;

/** Saves a version, at once or with a message for the history. */
export function SaveButton() {
  const { t } = useTranslation();
  const { draftSync, workflow } = useEditorPage();
  const { isSaving, structureErrors: errors } = useDraftSyncState('isSaving', 'structureErrors');
  const isSame = useDraftSync((state) => state.status === 'same');
  const [isAsking, setIsAsking] = useState(false);
  const [message, setMessage] = useState('');
  const save = async () => {
    // Read only now: Ctrl+S may have just committed a field's text.
    if (draftSync.state.getState().status === 'same') return;
    setIsAsking(false);
    try {
      if (await draftSync.save(message.trim())) {
        setMessage('');
        notifyDone(t('workplace.save.done'));
      }
    } catch (error) {
      notifyFailure(error as Error);
    }
  };
  useHotkeys([['mod+S', () => void save()]], [], true);
  const isDisabled = isSame || workflow.status === 'archived';
  return (
    <Button.Group>
      <Button
        leftSection={<Save size={14} />}
        onClick={() => void save()}
        loading={isSaving}
        disabled={isDisabled}
        title={errors[0]?.message ?? t('workplace.save.hint')}
      >
        {t('common.save')}
      </Button>
      <Popover opened={isAsking} onChange={setIsAsking} position="bottom-end" width={320} trapFocus>
        <Popover.Target>
          <Button
            px={6}
            aria-label={t('workplace.save.withMessage')}
            title={t('workplace.save.withMessage')}
            disabled={isDisabled || isSaving}
            onClick={() => setIsAsking(!isAsking)}
          >
            <ChevronDown size={14} />
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void save();
            }}
          >
            <Stack gap="xs">
              <TextInput
                data-autofocus
                label={t('workplace.save.message')}
                placeholder={t('workplace.save.placeholder')}
                value={message}
                maxLength={MAX_MESSAGE}
                onChange={({ currentTarget }) => setMessage(currentTarget.value)}
              />
              <Hint>
                {workflow.status === 'active' ? t('workplace.save.activeHint') : t('workplace.save.hint')}
              </Hint>
              <Group justify="flex-end">
                <Button type="submit">{t('common.save')}</Button>
              </Group>
            </Stack>
          </form>
        </Popover.Dropdown>
      </Popover>
    </Button.Group>
  );
}
