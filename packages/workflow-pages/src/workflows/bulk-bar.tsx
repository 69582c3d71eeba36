import { Button } from '@mantine/core';
import type { WorkflowItem } from '@millrace/admin-api';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { SelectionBar } from '@millrace/ui/components/selection-bar.tsx';
import { Archive, FolderInput, ListChecks, Tags } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';

const MoveDialog = lazyPart(async () => (await import('./bulk-dialogs.tsx')).MoveDialog);
const TagDialog = lazyPart(async () => (await import('./bulk-dialogs.tsx')).TagDialog);
const ArchiveAllDialog = lazyPart(async () => (await import('./bulk-dialogs.tsx')).ArchiveAllDialog);

type Dialog = 'move' | 'tag' | 'archive' | null;

/** Actions on the selected workflows. */
export function BulkBar({
  items,
  shown,
  onSelectAll,
  onClear,
}: {
  /** The selected ones. */
  items: readonly WorkflowItem[];
  /** How many are listed. */
  shown: number;
  onSelectAll: () => void;
  onClear: () => void;
}) {
  const { t } = useTranslation();
  const [dialog, setDialog] = useState<Dialog>(null);
  const action = (name: 'move' | 'tag' | 'archive', Icon: typeof Tags) => (
    <Button variant="default" leftSection={<Icon size={14} aria-hidden />} onClick={() => setDialog(name)}>
      {t(`folders.bulk.action.${name}`)}
    </Button>
  );
  const dialogProps = { items, onClose: () => setDialog(null), onDone: onClear };
  return (
    <SelectionBar
      label={t('folders.bulk.label')}
      count={t('folders.bulk.count', { count: items.length })}
      clearLabel={t('folders.bulk.clear')}
      onClear={onClear}
      actions={
        <>
          {items.length < shown && (
            <Button variant="light" leftSection={<ListChecks size={14} aria-hidden />} onClick={onSelectAll}>
              {t('folders.bulk.all', { count: shown })}
            </Button>
          )}
          {action('move', FolderInput)}
          {action('tag', Tags)}
          {action('archive', Archive)}
        </>
      }
    >
      {dialog === 'move' && <MoveDialog {...dialogProps} />}
      {dialog === 'tag' && <TagDialog {...dialogProps} />}
      {dialog === 'archive' && <ArchiveAllDialog {...dialogProps} />}
    </SelectionBar>
  );
}
