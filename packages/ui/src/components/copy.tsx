import { ActionIcon, Button, type ButtonProps, CopyButton, Tooltip } from '@mantine/core';
import { Check, Copy } from 'lucide-react';
import { useTranslation } from 'react-i18next';

export function CopyIcon({ text, label }: { text: string; label?: string }) {
  const { t } = useTranslation();
  return (
    <CopyButton value={text} timeout={2_000}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? t('common.copied') : (label ?? t('common.copy'))}>
          <ActionIcon onClick={copy} aria-label={label ?? t('common.copy')} size="sm">
            {copied ? <Check size={14} /> : <Copy size={14} />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}

/** Copies a string; the button's label says what. */
export function CopyTextButton({ text, label, ...button }: ButtonProps & { text: string; label: string }) {
  const { t } = useTranslation();
  return (
    <CopyButton value={text} timeout={2_000}>
      {({ copied, copy }) => (
        <Button
          {...button}
          onClick={copy}
          leftSection={copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
        >
          {copied ? t('common.copied') : label}
        </Button>
      )}
    </CopyButton>
  );
}
