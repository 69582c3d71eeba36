import '@millrace/ui/i18n/parts/folders.ts';
import '@millrace/ui/i18n/parts/workflows.ts';
import { Select, TextInput } from '@mantine/core';
import type { Folder } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { ConfirmChange, FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useFolderTree } from './folders.ts';

const FOLDERS = 'GET /orgs/:org/folders';
const MAX_NAME_LENGTH = 100;

/** Creates a folder, or changes its name and place. */
export function FolderDialog({
  folder,
  onClose,
  onCreated,
}: {
  /** Null: a new one. */
  folder: Folder | null;
  onClose: () => void;
  onCreated?: (id: number) => void;
}) {
  const { t } = useTranslation();
  const org = useOrg();
  const tree = useFolderTree();
  const [name, setName] = useState(folder?.name ?? '');
  const [parent, setParent] = useState(folder?.parent_id ?? null);
  const store = useChange(
    () => {
      const body = { name, parent_id: parent };
      if (folder === null) return call('POST /orgs/:org/folders', { params: { org }, body });
      return call('PATCH /orgs/:org/folders/:folder', { params: { org, folder: folder.id }, body });
    },
    {
      refreshes: [FOLDERS],
      onSuccess: ({ id }) => {
        onClose();
        if (folder === null) onCreated?.(id);
      },
    },
  );
  const hasFolders = tree.some(({ id, children }) => id === folder?.id && children.length > 0);
  return (
    <FormDialog
      title={folder === null ? t('folders.new') : t('folders.change')}
      action={folder === null ? t('workflows.create') : t('common.save')}
      isReady={name.trim() !== ''}
      isBusy={store.isPending}
      onSubmit={() => store.mutate()}
      onClose={onClose}
    >
      <TextInput
        label={t('workflows.name')}
        data-autofocus
        value={name}
        maxLength={MAX_NAME_LENGTH}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <Select
        label={t('folders.inside')}
        placeholder={t('folders.insideNone')}
        description={hasFolders ? t('folders.hasFolders') : undefined}
        disabled={hasFolders}
        data={tree
          .filter(({ id }) => id !== folder?.id)
          .map(({ id, name: label }) => ({ value: String(id), label }))}
        value={parent === null ? null : String(parent)}
        onChange={(chosen) => setParent(chosen === null ? null : Number(chosen))}
        searchable
        clearable
      />
    </FormDialog>
  );
}

/** Deletes a folder; its workflows stay. */
export function DeleteFolderDialog({
  folder,
  onClose,
  onDeleted,
}: {
  folder: Folder;
  onClose: () => void;
  onDeleted: () => void;
}) {
  const { t } = useTranslation();
  const org = useOrg();
  const tree = useFolderTree();
  const outer = tree.find(({ id }) => id === folder.parent_id);
  const count = tree.find(({ id }) => id === folder.id)?.children.length ?? 0;
  return (
    <ConfirmChange
      title={t('folders.deleteTitle', { name: folder.name })}
      action={t('folders.delete')}
      change={() => call('DELETE /orgs/:org/folders/:folder', { params: { org, folder: folder.id } })}
      done={t('folders.deleted', { name: folder.name })}
      refreshes={[FOLDERS, 'GET /orgs/:org/workflows']}
      onSuccess={onDeleted}
      onClose={onClose}
    >
      {outer === undefined ? t('folders.deleteHint') : t('folders.deleteInnerHint', { outer: outer.name })}
      {count > 0 && ` ${t('folders.deleteWith', { count })}`}
    </ConfirmChange>
  );
}
