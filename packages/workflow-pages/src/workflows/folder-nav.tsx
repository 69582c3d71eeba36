import { Box, Group, NavLink, Stack } from '@mantine/core';
import type { Folder } from '@millrace/admin-api';
import { useRole } from '@millrace/ui/api/me.ts';
import type { ApplyFilters } from '@millrace/ui/api/search-params.ts';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Link } from '@tanstack/react-router';
import { Folder as FolderIcon, FolderPlus, Inbox, type LucideIcon, Star, Workflow } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useFolderActions } from './folder-actions.tsx';
import classes from './folder-nav.module.css';
import { useFolderTree } from './folders.ts';
import { type ListSearch, readListSearch } from './list-search.ts';

/** A part of the list: all, favourites, a folder. */
type Place = Pick<ListSearch, 'folder' | 'favourites'>;
const isSame = (one: Place, other: Place) =>
  one.folder === other.folder && one.favourites === other.favourites;

/** Folders beside the list, favourites and everything. */
export function FolderNav({ filters, apply }: { filters: ListSearch; apply: ApplyFilters<ListSearch> }) {
  const { t } = useTranslation();
  const { can } = useRole();
  const tree = useFolderTree();
  const { dialog, create, menuOf } = useFolderActions(apply);
  const place = (wanted: Place, icon: LucideIcon, label: string) => (
    <PlaceLink place={wanted} icon={icon} label={label} isHere={isSame(filters, wanted)} />
  );
  const branch = (folder: Folder) => (
    <Group gap={2} wrap="nowrap" className={classes.row}>
      <Box flex={1} miw={0}>
        {place({ folder: folder.id }, FolderIcon, folder.name)}
      </Box>
      <span className={classes.menu}>{menuOf(folder, t('folders.more', { name: folder.name }))}</span>
    </Group>
  );
  return (
    <nav aria-label={t('folders.title')} className={classes.nav}>
      <Stack gap={0}>
        {place({}, Workflow, t('folders.all'))}
        {place({ favourites: true }, Star, t('folders.favourites'))}
        {tree.length > 0 && place({ folder: 'none' }, Inbox, t('folders.none'))}
      </Stack>
      <Group justify="space-between" mt="sm" pl={10} mih={28} wrap="nowrap">
        <Hint fw={600}>{t('folders.title')}</Hint>
        {can('editor') && (
          <IconButton icon={FolderPlus} label={t('folders.new')} size="sm" onClick={create} />
        )}
      </Group>
      <ul className={classes.list}>
        {tree.map((folder) => (
          <li key={folder.id}>
            {branch(folder)}
            {folder.children.length > 0 && (
              <ul className={classes.list}>
                {folder.children.map((child) => (
                  <li key={child.id} className={classes.nested}>
                    {branch(child)}
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
      {dialog}
    </nav>
  );
}

function PlaceLink({
  place,
  icon: Icon,
  label,
  isHere,
}: {
  place: Place;
  icon: LucideIcon;
  label: string;
  isHere: boolean;
}) {
  return (
    <NavLink
      label={label}
      title={label}
      noWrap
      py={4}
      leftSection={<Icon size={14} aria-hidden />}
      active={isHere}
      aria-current={isHere ? 'page' : undefined}
      style={{ borderRadius: 'var(--mantine-radius-sm)' }}
      renderRoot={(props) => (
        <Link
          {...props}
          to="."
          search={(old: object) =>
            readListSearch({ ...old, folder: place.folder, favourites: place.favourites }) as never
          }
        />
      )}
    />
  );
}
