import { Group, Select } from '@mantine/core';
import { useRole } from '@millrace/ui/api/me.ts';
import type { ApplyFilters } from '@millrace/ui/api/search-params.ts';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { Folder, FolderPlus } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useFolderActions } from './folder-actions.tsx';
import { optionsOf, useFolders, useFolderTree } from './folders.ts';
import type { ListSearch } from './list-search.ts';

/** What is beside the list in a wide window: folders, favourites and everything, to choose from. */
export function FolderSelect({ filters, apply }: { filters: ListSearch; apply: ApplyFilters<ListSearch> }) {
  const { t } = useTranslation();
  const { can } = useRole();
  const tree = useFolderTree();
  const here = useFolders().find(({ id }) => id === filters.folder);
  const { dialog, create, menuOf } = useFolderActions(apply);
  const choose = (chosen: string | null) => {
    const isFolder = chosen !== null && chosen !== 'all' && chosen !== 'favourites';
    apply({
      folder: isFolder ? (chosen === 'none' ? 'none' : Number(chosen)) : undefined,
      favourites: chosen === 'favourites' ? true : undefined,
    });
  };
  return (
    <Group gap={4} wrap="nowrap" mb="xs">
      <Select
        flex={1}
        maw={360}
        aria-label={t('folders.label')}
        leftSection={<Folder size={14} aria-hidden />}
        data={[
          { value: 'all', label: t('folders.all') },
          { value: 'favourites', label: t('folders.favourites') },
          ...(tree.length > 0 ? [{ value: 'none', label: t('folders.none') }] : []),
          ...optionsOf(tree),
        ]}
        value={filters.favourites === true ? 'favourites' : String(filters.folder ?? 'all')}
        allowDeselect={false}
        searchable={tree.length > 0}
        onChange={choose}
      />
      {can('editor') && <IconButton icon={FolderPlus} label={t('folders.new')} onClick={create} />}
      {here !== undefined && menuOf(here, t('folders.moreHere'))}
      {dialog}
    </Group>
  );
}
