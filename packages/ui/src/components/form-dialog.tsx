import { Modal, type ModalProps, Stack } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { DialogButtons } from './dialog-buttons.tsx';

/** A dialog with a form: Enter sends it, Escape leaves it. */
export function FormDialog({
  isOpen,
  title,
  children,
  action,
  isBusy = false,
  isReady = true,
  size = 'md',
  onSubmit,
  onClose,
}: {
  isOpen: boolean;
  title: string;
  children: ReactNode;
  /** What the button says. */
  action: string;
  isBusy?: boolean;
  isReady?: boolean;
  size?: NonNullable<ModalProps['size']>;
  onSubmit: () => void;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady && !isBusy) onSubmit();
  };
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={title}
      size={size}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          {children}
          <DialogButtons action={action} isBusy={isBusy} isReady={isReady} onClose={onClose} />
        </Stack>
      </form>
    </Modal>
  );
}
