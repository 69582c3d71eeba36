import { Button, Code, Group, Modal, SimpleGrid, Stack, Text } from '@mantine/core';
import { CopyTextButton } from '@millrace/ui/components/copy.tsx';
import { Download } from 'lucide-react';
import { useTranslation } from 'react-i18next';

/** Shows recovery codes once. */
export function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const { t } = useTranslation();
  const text = `${codes.join('\n')}\n`;
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('account.codesTitle')}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap="sm">
        <Text size="sm">{t('account.codesText')}</Text>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing={4} component="ul" m={0} p={0}>
          {codes.map((code) => (
            <Code key={code} component="li" style={{ listStyle: 'none' }} fz="sm" ta="center">
              {code}
            </Code>
          ))}
        </SimpleGrid>
        <Group gap="xs" justify="space-between">
          <Group gap="xs">
            <CopyTextButton variant="default" text={text} label={t('account.copyCodes')} />
            <Button
              component="a"
              variant="default"
              leftSection={<Download size={14} />}
              href={`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`}
              download={t('account.codesFile')}
            >
              {t('account.downloadCodes')}
            </Button>
          </Group>
          <Button onClick={onClose} data-autofocus>
            {t('account.codesKept')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
