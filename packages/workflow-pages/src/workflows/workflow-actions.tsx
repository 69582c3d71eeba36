import '@millrace/ui/i18n/parts/workflow.ts';
import { Group, Menu } from '@mantine/core';
import type { WorkflowItem } from '@millrace/admin-api';
import { useRole } from '@millrace/ui/api/me.ts';
import { ConfirmDialog, FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { RowMenu } from '@millrace/ui/components/row-menu.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Archive, ArchiveRestore, Copy, FolderInput, Play, Sheet, Tags, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { DetailsDialog } from './details-dialog.tsx';
import { ExportItem } from './export-item.tsx';
import { NameField } from './name-field.tsx';
import { RunDialog } from './run-dialog.tsx';
import { useWorkflowChanges } from './workflow-changes.ts';

/** Reading files is loaded when it is needed. */
const MoveDialog = lazyPart(async () => (await import('./bulk-dialogs.tsx')).MoveDialog);
const CsvDialog = lazyPart(async () => (await import('./csv-dialog.tsx')).CsvDialog);

type Dialog = 'run' | 'csv' | 'move' | 'details' | 'duplicate' | 'archive' | 'delete' | null;

/** The actions on a workflow that the role permits. */
export function WorkflowActions({ item }: { item: WorkflowItem }) {
  const { t } = useTranslation();
  const { can } = useRole();
  const [dialog, setDialog] = useState<Dialog>(null);
  const close = () => setDialog(null);
  const { restore, update } = useWorkflowChanges(item.id);
  const isArchived = item.status === 'archived';
  return (
    <Group gap={2} wrap="nowrap" justify="flex-end">
      {can('editor') && !isArchived && (
        <IconButton
          icon={Play}
          label={t('workflows.runNamed', { name: item.name })}
          hint={t('workflows.runNow')}
          onClick={() => setDialog('run')}
        />
      )}
      <RowMenu label={t('workflows.actionsNamed', { name: item.name })} width={248}>
        {can('editor') && !isArchived && (
          <Menu.Item leftSection={<Tags size={14} />} onClick={() => setDialog('details')}>
            {t('workflow.details')}
          </Menu.Item>
        )}
        {can('editor') && (
          <Menu.Item leftSection={<FolderInput size={14} />} onClick={() => setDialog('move')}>
            {t('folders.bulk.action.move')}
          </Menu.Item>
        )}
        {can('editor') && (item.status === 'draft' || item.status === 'active') && (
          <Menu.Item leftSection={<Sheet size={14} />} onClick={() => setDialog('csv')}>
            {t('workflows.csv.menu')}
          </Menu.Item>
        )}
        <ExportItem workflowId={item.id} />
        {can('editor') && (
          <Menu.Item leftSection={<Copy size={14} />} onClick={() => setDialog('duplicate')}>
            {t('workflow.duplicate')}
          </Menu.Item>
        )}
        {can('editor') && !isArchived && (
          <Menu.Item leftSection={<Archive size={14} />} onClick={() => setDialog('archive')}>
            {t('workflows.archive')}
          </Menu.Item>
        )}
        {can('editor') && isArchived && (
          <Menu.Item leftSection={<ArchiveRestore size={14} />} onClick={() => restore.mutate()}>
            {t('workflows.restore')}
          </Menu.Item>
        )}
        {can('org_admin') && isArchived && (
          <Menu.Item color="red" leftSection={<Trash2 size={14} />} onClick={() => setDialog('delete')}>
            {t('workflows.deleteForGood')}
          </Menu.Item>
        )}
      </RowMenu>
      {dialog === 'run' && <RunDialog workflow={item} onClose={close} />}
      {dialog === 'csv' && <CsvDialog workflow={item} onClose={close} />}
      {dialog === 'details' && (
        <DetailsDialog
          workflow={item}
          isBusy={update.isPending}
          onStore={(details) => update.mutate(details, { onSuccess: close })}
          onClose={close}
        />
      )}
      {dialog === 'move' && <MoveDialog items={[item]} onClose={close} onDone={close} />}
      {dialog === 'duplicate' && <DuplicateDialog item={item} onClose={close} />}
      {dialog === 'archive' && <ArchiveDialog item={item} onClose={close} />}
      {dialog === 'delete' && <DeleteDialog item={item} onClose={close} />}
    </Group>
  );
}

interface DialogProps {
  item: WorkflowItem;
  onClose: () => void;
}

function DuplicateDialog({ item, onClose }: DialogProps) {
  const { t } = useTranslation();
  const [name, setName] = useState<string>(t('workflow.copyOf', { name: item.name }).slice(0, 255));
  const { duplicate } = useWorkflowChanges(item.id);
  return (
    <FormDialog
      title={t('workflow.duplicate')}
      action={t('workflows.duplicateAction')}
      isBusy={duplicate.isPending}
      isReady={name.trim() !== ''}
      onSubmit={() => duplicate.mutate(name, { onSuccess: onClose })}
      onClose={onClose}
    >
      <NameField value={name} onChange={setName} />
      <Hint>{t('workflows.duplicateHint')}</Hint>
    </FormDialog>
  );
}

function ArchiveDialog({ item, onClose }: DialogProps) {
  const { t } = useTranslation();
  const { archive } = useWorkflowChanges(item.id);
  return (
    <ConfirmDialog
      title={t('workflows.archiveTitle', { name: item.name })}
      action={t('workflows.archive')}
      isBusy={archive.isPending}
      onConfirm={() => archive.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      {t('workflows.archiveHint')}
    </ConfirmDialog>
  );
}

function DeleteDialog({ item, onClose }: DialogProps) {
  const { t } = useTranslation();
  const { remove } = useWorkflowChanges(item.id);
  return (
    <ConfirmDialog
      title={t('workflows.deleteTitle', { name: item.name })}
      action={t('workflows.deleteForGood')}
      typed={item.name}
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate(item.name, { onSuccess: onClose })}
      onClose={onClose}
    >
      {t('workflows.deleteHint')}
    </ConfirmDialog>
  );
}
