import { Button, CopyButton, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { Check, Copy } from 'lucide-react';
import { useTranslation } from 'react-i18next';

/** The link of an invitation, shown this one time. */
export function LinkDialog({
  url,
  text,
  onClose,
}: {
  url: string;
  /** What it is for, and what to do with it. */
  text: string;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('people.linkTitle')}
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
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
          <CopyButton value={url} timeout={3_000}>
            {({ copied, copy }) => (
              <Button
                data-autofocus
                leftSection={copied ? <Check size={14} /> : <Copy size={14} />}
                onClick={copy}
              >
                {copied ? t('common.copied') : t('people.copyLink')}
              </Button>
            )}
          </CopyButton>
          <Button variant="default" onClick={onClose}>
            {t('people.done')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
