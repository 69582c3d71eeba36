import { ActionIcon, Tooltip } from '@mantine/core';
import { Check } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { notifyWarning } from './notify.ts';

const TOLD_MS = 2_000;

/** Copies text created on demand: serializing megabytes takes a while. */
export function CopyMade({
  make,
  label,
  hint = label,
  children,
}: {
  make: () => string;
  label: string;
  /** Shown beside the label. */
  hint?: string;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setIsCopied(false), TOLD_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    try {
      // Browsers offer the clipboard only in secure contexts.
      await navigator.clipboard.writeText(make());
      setIsCopied(true);
    } catch {
      notifyWarning(t('executions.json.copyFailed'));
    }
  };
  return (
    <Tooltip label={isCopied ? t('common.copied') : hint}>
      <ActionIcon size="sm" aria-label={isCopied ? t('common.copied') : label} onClick={() => void copy()}>
        {isCopied ? <Check size={14} /> : children}
      </ActionIcon>
    </Tooltip>
  );
}
