import { Button, Group, Paper, Text } from '@mantine/core';
import type { WorkflowItem } from '@millrace/admin-api';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { Archive, FolderInput, ListChecks, Tags, X } from 'lucide-react';
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
    <Paper
      withBorder
      shadow="md"
      p="xs"
      role="toolbar"
      aria-label={t('folders.bulk.label')}
      style={{ position: 'sticky', bottom: 12, zIndex: 10 }}
    >
      <Group gap="xs">
        <Text size="sm" fw={500} role="status">
          {t('folders.bulk.count', { count: items.length })}
        </Text>
        {items.length < shown && (
          <Button variant="light" leftSection={<ListChecks size={14} aria-hidden />} onClick={onSelectAll}>
            {t('folders.bulk.all', { count: shown })}
          </Button>
        )}
        {action('move', FolderInput)}
        {action('tag', Tags)}
        {action('archive', Archive)}
        <Button
          variant="subtle"
          color="gray"
          leftSection={<X size={14} aria-hidden />}
          onClick={onClear}
          ml="auto"
        >
          {t('folders.bulk.clear')}
        </Button>
      </Group>
      {dialog === 'move' && <MoveDialog {...dialogProps} />}
      {dialog === 'tag' && <TagDialog {...dialogProps} />}
      {dialog === 'archive' && <ArchiveAllDialog {...dialogProps} />}
    </Paper>
  );
}
