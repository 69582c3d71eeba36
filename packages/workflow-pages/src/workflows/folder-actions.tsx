import { Menu } from '@mantine/core';
import type { Folder } from '@millrace/admin-api';
import { useRole } from '@millrace/ui/api/me.ts';
import type { ApplyFilters } from '@millrace/ui/api/search-params.ts';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { RowMenu } from '@millrace/ui/components/row-menu.tsx';
import { Pencil, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ListSearch } from './list-search.ts';

const FolderDialog = lazyPart(async () => (await import('./folder-dialogs.tsx')).FolderDialog);
const DeleteFolderDialog = lazyPart(async () => (await import('./folder-dialogs.tsx')).DeleteFolderDialog);

type Dialog =
  | { readonly kind: 'new' }
  | { readonly kind: 'change' | 'delete'; readonly folder: Folder }
  | null;

/** What can be done with folders, and the dialog for it; a new folder is opened, a deleted one left. */
export function useFolderActions(apply: ApplyFilters<ListSearch>): {
  readonly dialog: ReactNode;
  readonly create: () => void;
  /** The menu of a folder; nothing for viewers. */
  readonly menuOf: (folder: Folder, label: string) => ReactNode;
} {
  const { t } = useTranslation();
  const { can } = useRole();
  const [dialog, setDialog] = useState<Dialog>(null);
  const close = () => setDialog(null);
  return {
    create: () => setDialog({ kind: 'new' }),
    menuOf: (folder, label) =>
      can('editor') && (
        <RowMenu label={label}>
          <Menu.Item leftSection={<Pencil size={14} />} onClick={() => setDialog({ kind: 'change', folder })}>
            {t('folders.change')}
          </Menu.Item>
          <Menu.Item
            color="red"
            leftSection={<Trash2 size={14} />}
            onClick={() => setDialog({ kind: 'delete', folder })}
          >
            {t('folders.delete')}
          </Menu.Item>
        </RowMenu>
      ),
    dialog:
      dialog === null ? null : dialog.kind === 'delete' ? (
        <DeleteFolderDialog
          folder={dialog.folder}
          onClose={close}
          onDeleted={() => apply({ folder: dialog.folder.parent_id ?? undefined })}
        />
      ) : (
        <FolderDialog
          folder={dialog.kind === 'new' ? null : dialog.folder}
          onClose={close}
          onCreated={(id) => apply({ folder: id, favourites: undefined })}
        />
      ),
  };
}
