import { Modal, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { Trans, useTranslation } from 'react-i18next';
import { DialogButtons } from './dialog-buttons.tsx';

/** Asks before something that cannot be undone; with `typed`, by having its name typed. */
export function ConfirmDialog({
  isOpen,
  title,
  children,
  action,
  typed,
  isBusy = false,
  onConfirm,
  onClose,
}: {
  isOpen: boolean;
  title: string;
  children: ReactNode;
  /** What the button says. */
  action: string;
  typed?: string;
  isBusy?: boolean;
  onConfirm: () => void;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const isReady = typed === undefined || text === typed;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) onConfirm();
  };
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      onExitTransitionEnd={() => setText('')}
      title={title}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          <Text size="sm" component="div">
            {children}
          </Text>
          {typed !== undefined && (
            <TextInput
              data-autofocus
              autoComplete="off"
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
              label={
                <Trans
                  i18nKey="common.typeToConfirm"
                  values={{ text: typed }}
                  tOptions={{ interpolation: { escapeValue: false } }}
                />
              }
            />
          )}
          <DialogButtons color="red" action={action} isBusy={isBusy} isReady={isReady} onClose={onClose} />
        </Stack>
      </form>
    </Modal>
  );
}
