import type { DiffMark } from '@millrace/editor-model/display.ts';
import { Minus, Pencil, Plus } from 'lucide-react';
import { useTranslation } from 'react-i18next';

const SIGNS = { added: Plus, removed: Minus, changed: Pencil } as const;

/** How a node differs between two versions, as icon and label. */
export function DiffSign({ mark }: { mark: DiffMark }) {
  const { t } = useTranslation();
  const Icon = SIGNS[mark];
  return (
    <span className={`flow-diff is-${mark}`}>
      <Icon size={12} aria-hidden />
      {t(`editor.diff.${mark}`)}
    </span>
  );
}
