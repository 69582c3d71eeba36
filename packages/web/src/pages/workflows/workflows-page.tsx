import '@millrace/ui/i18n/parts/editor.ts';
import '@millrace/ui/i18n/parts/executions.ts';
import '@millrace/ui/i18n/parts/workflows.ts';
import { Box, Button, Group, Menu, Select } from '@mantine/core';
import { useOrg, useRole } from '@millrace/ui/api/me.ts';
import { usePages } from '@millrace/ui/api/pages.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { type ApplyFilters, useFilters } from '@millrace/ui/api/search-params.ts';
import { FilterInput } from '@millrace/ui/components/filter-input.tsx';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { Page } from '@millrace/ui/components/page.tsx';
import { PagedList } from '@millrace/ui/components/paged-list.tsx';
import { EmptyState } from '@millrace/ui/components/states.tsx';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChevronDown, FileJson, LayoutTemplate, Plus, Search, SearchX, Workflow } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useCreateWorkflow } from './create-workflow.ts';
import { ImportDialog } from './import-dialog.tsx';
import { LIST_STATUSES, type ListSearch, type ListStatus, readListSearch } from './list-search.ts';
import { NameField } from './name-field.tsx';
import { WorkflowTable } from './workflow-table.tsx';

const PAGE_SIZE = 50;
/** Keeps the run strips up to date. */
const REFRESH_MS = 10_000;

/** All workflows of the organisation, with their recent executions and actions. */
export function WorkflowsPage() {
  const { t } = useTranslation();
  const { can } = useRole();
  const [filters, apply] = useFilters(readListSearch);
  const list = usePages(
    'GET /orgs/:org/workflows',
    { params: { org: useOrg() }, query: { limit: PAGE_SIZE, ...filters } },
    { refetchInterval: REFRESH_MS, keepsPrevious: true },
  );
  return (
    <Page title={t('workflows.title')} actions={can('editor') && <NewWorkflowMenu />}>
      <Filters filters={filters} apply={apply} />
      <PagedList list={list} empty={<Nothing isFiltered={Object.keys(filters).length > 0} />}>
        {(items) => (
          <Box opacity={list.isPlaceholderData ? 0.5 : 1}>
            <WorkflowTable items={items} />
          </Box>
        )}
      </PagedList>
    </Page>
  );
}

function Filters({ filters, apply }: { filters: ListSearch; apply: ApplyFilters<ListSearch> }) {
  const { t } = useTranslation();
  const org = useOrg();
  const { data } = useQuery(endpointQuery('GET /orgs/:org/workflow-tags', { params: { org } }));
  return (
    <Group gap="xs" role="search">
      <FilterInput
        flex={1}
        miw={180}
        maw={360}
        aria-label={t('workflows.searchLabel')}
        placeholder={t('workflows.searchHint')}
        leftSection={<Search size={14} aria-hidden />}
        clearLabel={t('workflows.clearSearch')}
        value={filters.search}
        onApply={(search) => apply({ search })}
      />
      <Select
        w={150}
        aria-label={t('workflows.statusLabel')}
        placeholder={t('workflows.statusPlaceholder')}
        data={LIST_STATUSES.map((status) => ({ value: status, label: t(`workflows.status.${status}`) }))}
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
    </Group>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  const { t } = useTranslation();
  const { can } = useRole();
  const org = String(useOrg());
  if (isFiltered) {
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

type Dialog = 'empty' | 'import' | null;

/** A new workflow: empty, from a template, or from an export. */
function NewWorkflowMenu() {
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
      {dialog === 'empty' && <EmptyDialog onClose={close} />}
      {dialog === 'import' && <ImportDialog onClose={close} />}
    </>
  );
}

/** The editor asks how it starts. */
const FIRST_FLOW = { nodes: [], edges: [] };

function EmptyDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  const create = useCreateWorkflow();
  const { data: defaults } = useQuery(
    endpointQuery('GET /orgs/:org/defaults', { params: { org: useOrg() } }),
  );
  const zone = defaults?.time_zone ?? null;
  const flow = zone === null ? FIRST_FLOW : { ...FIRST_FLOW, settings: { timezone: zone } };
  return (
    <FormDialog
      title={t('workflows.new')}
      action={t('workflows.create')}
      isReady={name.trim() !== ''}
      isBusy={create.isPending}
      onSubmit={() => create.mutate({ name, flow_data: flow })}
      onClose={onClose}
    >
      <NameField value={name} onChange={setName} placeholder={t('workflows.nameHint')} />
    </FormDialog>
  );
}
