import { Tooltip } from '@mantine/core';
import { Pin } from 'lucide-react';
import { useTranslation } from 'react-i18next';

/** Tells that an output is pinned to a node, and where that ends. */
export function PinMark() {
  const { t } = useTranslation();
  return (
    <Tooltip label={t('forms.pinMark')} multiline maw={280}>
      <span style={{ display: 'inline-flex', color: 'var(--mantine-primary-color-light-color)' }}>
        <Pin size={14} aria-hidden />
        <span className="flow-visually-hidden">{t('forms.pinned')}</span>
      </span>
    </Tooltip>
  );
}
