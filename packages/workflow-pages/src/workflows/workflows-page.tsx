import '@millrace/ui/i18n/parts/workflow.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import '@millrace/ui/i18n/parts/executions.ts';
import '@millrace/ui/i18n/parts/folders.ts';
import '@millrace/ui/i18n/parts/workflows.ts';
import { Box, Button, Group, Menu, Select } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { WorkflowItem, WorkflowSort } from '@millrace/admin-api';
import { useMe, useOrg, useRole } from '@millrace/ui/api/me.ts';
import { usePages } from '@millrace/ui/api/pages.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { type ApplyFilters, useFilters } from '@millrace/ui/api/search-params.ts';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { Page } from '@millrace/ui/components/page.tsx';
import { PagedList } from '@millrace/ui/components/paged-list.tsx';
import { EmptyState } from '@millrace/ui/components/states.tsx';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import {
  ArrowDownUp,
  ChevronDown,
  FileJson,
  Folder,
  LayoutTemplate,
  Plus,
  SearchX,
  Star,
  Workflow,
} from 'lucide-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { BulkBar } from './bulk-bar.tsx';
import { FolderNav } from './folder-nav.tsx';
import { FolderSelect } from './folder-select.tsx';
import { LIST_STATUSES, type ListSearch, type ListStatus, readListSearch, SORTS } from './list-search.ts';
import { NewWorkflowDialog } from './new-workflow-dialog.tsx';
import { SearchField } from './search-field.tsx';
import { SelectionContext, useSelected } from './selection.ts';
import { WorkflowTable } from './workflow-table.tsx';

const ImportDialog = lazyPart(async () => (await import('./import-dialog.tsx')).ImportDialog);

const FirstSteps = lazyPart(async () => (await import('./first-steps.tsx')).FirstSteps);

const PAGE_SIZE = 50;
/** Keeps the run strips up to date. */
const REFRESH_MS = 10_000;

/** In narrower windows, folders beside the list would leave no room for names. */
const ROOM_FOR_FOLDERS = '(min-width: 90em)';

/** All workflows of the organisation, with their recent executions and actions. */
export function WorkflowsPage() {
  const { t } = useTranslation();
  const { can } = useRole();
  const hasFirstSteps = useMe()?.user.shows_first_steps === true && can('editor');
  const isAsked = useLocation({ select: ({ hash }) => hash === 'first-steps' });
  const [filters, apply] = useFilters(readListSearch);
  const hasRoom = useMediaQuery(ROOM_FOR_FOLDERS, false, { getInitialValueInEffect: false });
  const { folder, ...others } = filters;
  const list = usePages(
    'GET /orgs/:org/workflows',
    {
      params: { org: useOrg() },
      query: { limit: PAGE_SIZE, ...others, ...(folder === undefined ? {} : { folder: String(folder) }) },
    },
    { refetchInterval: REFRESH_MS, keepsPrevious: true },
  );
  const items = useMemo(() => onlyOnce(list.items), [list.items]);
  const selection = useSelected(JSON.stringify(filters));
  const chosen = items.filter(({ id }) => selection.selected.has(id));
  return (
    <Page
      title={t('workflows.title')}
      actions={can('editor') && <NewWorkflowMenu folder={folder} />}
      width={1400}
    >
      {hasFirstSteps && <FirstSteps isAsked={isAsked} />}
      <Group align="flex-start" gap="lg" wrap="nowrap">
        {hasRoom && <FolderNav filters={filters} apply={apply} />}
        <Box flex={1} miw={0}>
          {!hasRoom && <FolderSelect filters={filters} apply={apply} />}
          <Filters filters={filters} apply={apply} />
          <Box mt="md">
            <PagedList list={{ ...list, items }} empty={<Nothing filters={filters} />}>
              {() => (
                <SelectionContext value={can('editor') ? selection : null}>
                  <Box opacity={list.isPlaceholderData ? 0.5 : 1}>
                    <WorkflowTable items={items} />
                  </Box>
                </SelectionContext>
              )}
            </PagedList>
          </Box>
          {chosen.length > 0 && (
            <BulkBar
              items={chosen}
              shown={items.length}
              onSelectAll={() =>
                selection.select(
                  items.map(({ id }) => id),
                  true,
                )
              }
              onClear={selection.clear}
            />
          )}
        </Box>
      </Group>
    </Page>
  );
}

/** One that runs or changes while pages are loaded may be on two of them. */
function onlyOnce(items: readonly WorkflowItem[]): readonly WorkflowItem[] {
  return [...new Map(items.map((item) => [item.id, item])).values()];
}

function Filters({ filters, apply }: { filters: ListSearch; apply: ApplyFilters<ListSearch> }) {
  const { t } = useTranslation();
  const org = useOrg();
  const { data } = useQuery(endpointQuery('GET /orgs/:org/workflow-tags', { params: { org } }));
  return (
    <Group gap="xs" role="search">
      <SearchField
        label={t('workflows.searchLabel')}
        hint={t('workflows.searchHint')}
        value={filters.search}
        onApply={(search) => apply({ search })}
      />
      <Select
        w={150}
        aria-label={t('workflows.statusLabel')}
        placeholder={t('workflows.statusPlaceholder')}
        data={LIST_STATUSES.map((status) => ({ value: status, label: t(`workflow.status.${status}`) }))}
        value={filters.status ?? null}
        onChange={(status) => apply({ status: (status ?? undefined) as ListStatus | undefined })}
        clearable
      />
      <Select
        w={150}
        aria-label={t('workflows.tagLabel')}
        placeholder={t('workflows.tagPlaceholder')}
        data={data?.tags ?? []}
        value={filters.tag ?? null}
        onChange={(tag) => apply({ tag: tag ?? undefined })}
        nothingFoundMessage={t('workflows.noTags')}
        searchable
        clearable
      />
      <Select
        w={170}
        aria-label={t('folders.sortLabel')}
        leftSection={<ArrowDownUp size={14} aria-hidden />}
        data={SORTS.map((sort) => ({ value: sort, label: t(`folders.sort.${sort}`) }))}
        value={filters.sort ?? 'created'}
        onChange={(sort) => apply({ sort: sort === 'created' ? undefined : (sort as WorkflowSort) })}
        allowDeselect={false}
      />
    </Group>
  );
}

function Nothing({ filters }: { filters: ListSearch }) {
  const { t } = useTranslation();
  const { can } = useRole();
  const org = String(useOrg());
  const { search, status, tag, folder, favourites } = filters;
  if (search === undefined && status === undefined && tag === undefined) {
    if (favourites === true) {
      return (
        <EmptyState icon={Star} title={t('folders.noFavourites')}>
          {t('folders.noFavouritesHint')}
        </EmptyState>
      );
    }
    if (folder !== undefined) {
      return (
        <EmptyState
          icon={Folder}
          title={t('folders.empty')}
          action={can('editor') && <CreateHere folder={folder} />}
        >
          {can('editor') ? t('folders.emptyFolderHint') : t('folders.emptyViewerHint')}
        </EmptyState>
      );
    }
  } else {
    return (
      <EmptyState
        icon={SearchX}
        title={t('workflows.nothingFound')}
        action={
          <Button variant="default" component={Link} to={`/o/${org}/workflows`}>
            {t('workflows.clearFilters')}
          </Button>
        }
      >
        {t('workflows.nothingFoundHint')}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={Workflow}
      title={t('workflows.empty')}
      action={
        can('editor') && (
          <Button component={Link} to={`/o/${org}/templates`}>
            {t('workflows.beginWithTemplate')}
          </Button>
        )
      }
    >
      {t('workflows.emptyHint')}
    </EmptyState>
  );
}

/** A new workflow in the shown folder. */
function CreateHere({ folder }: { folder: ListSearch['folder'] }) {
  const { t } = useTranslation();
  const [isAsking, setIsAsking] = useState(false);
  return (
    <>
      <Button leftSection={<Plus size={14} />} onClick={() => setIsAsking(true)}>
        {t('folders.createHere')}
      </Button>
      {isAsking && <NewWorkflowDialog folder={folder} onClose={() => setIsAsking(false)} />}
    </>
  );
}

type Dialog = 'empty' | 'import' | null;

/** A new workflow: empty, from a template, or from an export. */
function NewWorkflowMenu({ folder }: { folder: ListSearch['folder'] }) {
  const { t } = useTranslation();
  const org = String(useOrg());
  const [dialog, setDialog] = useState<Dialog>(null);
  const close = () => setDialog(null);
  return (
    <>
      <Button.Group>
        <Button leftSection={<Plus size={14} />} onClick={() => setDialog('empty')}>
          {t('workflows.new')}
        </Button>
        <Menu position="bottom-end">
          <Menu.Target>
            <Button px={6} aria-label={t('workflows.moreWays')}>
              <ChevronDown size={14} />
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item component={Link} to={`/o/${org}/templates`} leftSection={<LayoutTemplate size={14} />}>
              {t('workflows.fromTemplate')}
            </Menu.Item>
            <Menu.Item leftSection={<FileJson size={14} />} onClick={() => setDialog('import')}>
              {t('workflows.import')}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Button.Group>
      {dialog === 'empty' && <NewWorkflowDialog folder={folder} onClose={close} />}
      {dialog === 'import' && <ImportDialog onClose={close} />}
    </>
  );
}
