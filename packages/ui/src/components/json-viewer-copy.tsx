import { ActionIcon, Tooltip } from '@mantine/core';
import { Check } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { notifyWarning } from './notify.ts';

const TOLD_MS = 2_000;

/** Copies a text that is made when it is wanted: of megabytes that takes a while. */
export function CopyMade({
  make,
  label,
  hint = label,
  children,
}: {
  make: () => string;
  label: string;
  /** What it says beside the label. */
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
      // Browsers give a page no clipboard that did not come over a safe connection.
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
