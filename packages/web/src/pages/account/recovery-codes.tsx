import { Button, Code, CopyButton, Group, Modal, SimpleGrid, Stack, Text } from '@mantine/core';
import { Check, Copy, Download } from 'lucide-react';
import { useTranslation } from 'react-i18next';

/** Recovery codes, this one time. */
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
            <CopyButton value={text}>
              {({ copied, copy }) => (
                <Button
                  variant="default"
                  leftSection={copied ? <Check size={14} /> : <Copy size={14} />}
                  onClick={copy}
                >
                  {copied ? t('common.copied') : t('account.copyCodes')}
                </Button>
              )}
            </CopyButton>
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
