import { Button, type ButtonProps, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';

/** The end of a dialog with a form: the way out, and the button that sends it. */
export function DialogButtons({
  action,
  isBusy,
  isReady = true,
  onClose,
  ...look
}: {
  /** What the button says. */
  action: string;
  isBusy: boolean;
  isReady?: boolean;
  onClose: () => void;
} & Pick<ButtonProps, 'color'>) {
  const { t } = useTranslation();
  return (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" onClick={onClose}>
        {t('common.cancel')}
      </Button>
      <Button type="submit" disabled={!isReady} loading={isBusy} {...look}>
        {action}
      </Button>
    </Group>
  );
}
