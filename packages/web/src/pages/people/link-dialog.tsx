import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { CopyTextButton } from '@millrace/ui/components/copy.tsx';
import { useTranslation } from 'react-i18next';

/** Shows an invitation link once. */
export function LinkDialog({
  url,
  text,
  onClose,
}: {
  url: string;
  /** What the link is for, and what to do with it. */
  text: string;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  return (
    <Modal opened onClose={onClose} title={t('people.linkTitle')} closeOnClickOutside={false}>
      <Stack gap="sm">
        <Text size="sm">{text}</Text>
        <TextInput
          readOnly
          aria-label={t('people.linkLabel')}
          value={url}
          onFocus={(event) => event.currentTarget.select()}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        />
        <Group justify="flex-end" gap="xs">
          <CopyTextButton data-autofocus text={url} label={t('people.copyLink')} />
          <Button variant="default" onClick={onClose}>
            {t('people.done')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
