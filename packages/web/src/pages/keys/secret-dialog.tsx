import { Alert, Box, Button, Code, Group, Modal, Stack, Text } from '@mantine/core';
import type { ApiKey } from '@millrace/admin-api';
import { CopyIcon, CopyTextButton } from '@millrace/ui/components/copy.tsx';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { TriangleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { curlFor, WORKFLOW_ID } from './key-text.ts';

/** A newly issued key with its secret. */
export interface IssuedSecret {
  readonly key: ApiKey;
  readonly secret: string;
  readonly apiUrl: string;
  /** When the replaced key stops working; null if it replaces none. */
  readonly oldKeyUntil: string | null;
}

/** Shows a secret once. Only its button closes it, so that a stray click doesn't lose the key. */
export function SecretDialog({
  issued: { key, secret, apiUrl, oldKeyUntil },
  onClose,
}: {
  issued: IssuedSecret;
  onClose: () => void;
}) {
  const { t, i18n } = useTranslation();
  const curl = curlFor(apiUrl, secret, key.effective_scopes);
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('keys.secretTitle', { name: key.name })}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap="sm">
        <Alert color="yellow" variant="light" icon={<TriangleAlert size={16} aria-hidden />} py="xs">
          {t('keys.secretHint')}
        </Alert>
        <Group gap="xs" wrap="nowrap" align="flex-start">
          <Code
            block
            flex={1}
            style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}
            aria-label={t('keys.secret')}
          >
            {secret}
          </Code>
          <CopyTextButton data-autofocus text={secret} label={t('keys.copyKey')} style={{ flexShrink: 0 }} />
        </Group>
        <Box>
          <Group gap={4} mb={4}>
            <Text size="xs" fw={600}>
              {t('keys.tryIt')}
            </Text>
            <CopyIcon text={curl} label={t('keys.copyCurl')} />
          </Group>
          <Code block fz="xs" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
            {curl}
          </Code>
          {curl.includes(WORKFLOW_ID) && (
            <Hint mt={4}>{t('keys.placeholderHint', { placeholder: WORKFLOW_ID })}</Hint>
          )}
        </Box>
        {oldKeyUntil !== null && (
          <Muted>{t('keys.oldUntil', { when: new Date(oldKeyUntil).toLocaleString(i18n.language) })}</Muted>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('keys.stored')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
