import {
  Button,
  type ButtonProps,
  Group,
  Modal,
  type ModalProps,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { type ComponentProps, type ReactNode, useState } from 'react';
import { Trans, useTranslation } from 'react-i18next';
import { Form } from './form.tsx';
import { type ChangeOptions, useChange } from './use-change.ts';
import { useIsOnTop } from './use-is-on-top.ts';

interface FormDialogProps extends Pick<ButtonProps, 'color'> {
  isOpen?: boolean;
  title: string;
  children: ReactNode;
  /** The label of the submit button. */
  action: string;
  /** The label of the button that closes the dialog; default: Cancel. */
  dismiss?: string;
  isBusy?: boolean;
  isReady?: boolean;
  size?: NonNullable<ModalProps['size']>;
  onSubmit: () => void;
  onClose: () => void;
  onExitTransitionEnd?: () => void;
}

/** A dialog with a form: Enter submits, Escape closes. */
export function FormDialog({
  isOpen = true,
  children,
  action,
  dismiss,
  isBusy = false,
  isReady = true,
  color,
  onSubmit,
  ...modal
}: FormDialogProps) {
  const { t } = useTranslation();
  const isOnTop = useIsOnTop(isOpen);
  const submit = () => {
    if (isReady && !isBusy) onSubmit();
  };
  return (
    <Modal opened={isOpen} closeOnEscape={isOnTop} {...modal}>
      <Form onSubmit={submit}>
        <Stack gap="sm">
          {children}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={modal.onClose}>
              {dismiss ?? t('common.cancel')}
            </Button>
            <Button
              type="submit"
              disabled={!isReady}
              loading={isBusy}
              {...(color === undefined ? {} : { color })}
            >
              {action}
            </Button>
          </Group>
        </Stack>
      </Form>
    </Modal>
  );
}

/** Confirms an irreversible action; with `typed`, the user must type that name. */
export function ConfirmDialog({
  children,
  typed,
  onConfirm,
  ...dialog
}: Omit<FormDialogProps, 'isReady' | 'onSubmit'> & { typed?: string; onConfirm: () => void }) {
  const [text, setText] = useState('');
  const isReady = typed === undefined || text === typed;
  return (
    <FormDialog
      color="red"
      {...dialog}
      isReady={isReady}
      onSubmit={onConfirm}
      onExitTransitionEnd={() => setText('')}
    >
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
    </FormDialog>
  );
}

export type ConfirmChangeProps<Answer> = Omit<ComponentProps<typeof ConfirmDialog>, 'isBusy' | 'onConfirm'> &
  Omit<ChangeOptions<Answer, void>, 'onSettled'> & { change: () => Promise<Answer> };

/** Asks before a change, and closes once it is made. */
export function ConfirmChange<Answer>({
  change,
  done,
  refreshes,
  onSuccess,
  onError,
  ...dialog
}: ConfirmChangeProps<Answer>) {
  const { isPending, mutate } = useChange(change, {
    ...{ done, refreshes, onError },
    onSuccess: (answer) => {
      dialog.onClose();
      return onSuccess?.(answer);
    },
  });
  return <ConfirmDialog {...dialog} isBusy={isPending} onConfirm={() => mutate()} />;
}
