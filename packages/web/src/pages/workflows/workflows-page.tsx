import { Box, Button, Group, Select } from '@mantine/core';
import { useOrg, useRole } from '@millrace/ui/api/me.ts';
import { usePages } from '@millrace/ui/api/pages.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { FilterInput } from '@millrace/ui/components/filter-input.tsx';
import { Page } from '@millrace/ui/components/page.tsx';
import { PagedList } from '@millrace/ui/components/paged-list.tsx';
import { EmptyState } from '@millrace/ui/components/states.tsx';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Search, SearchX, Workflow } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { LIST_STATUSES, type ListSearch, type ListStatus, readListSearch } from './list-search.ts';
import { NewWorkflowMenu } from './new-workflow.tsx';
import { WorkflowTable } from './workflow-table.tsx';

const PAGE_SIZE = 50;
/** The strips of runs show what has happened since. */
const REFRESH_MS = 10_000;

/** All workflows of the organisation, how they fare, and what can be done with them. */
export function WorkflowsPage() {
  const { t } = useTranslation();
  const { can } = useRole();
  const filters = readListSearch(useSearch({ strict: false }));
  const list = usePages(
    'GET /orgs/:org/workflows',
    { params: { org: useOrg() }, query: { limit: PAGE_SIZE, ...filters } },
    { refetchInterval: REFRESH_MS, keepsPrevious: true },
  );
  return (
    <Page title={t('workflows.title')} actions={can('editor') && <NewWorkflowMenu />}>
      <Filters filters={filters} />
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

function Filters({ filters }: { filters: ListSearch }) {
  const { t } = useTranslation();
  const org = useOrg();
  const navigate = useNavigate();
  const { data } = useQuery(endpointQuery('GET /orgs/:org/workflow-tags', { params: { org } }));
  const apply = (change: { readonly [Name in keyof ListSearch]: ListSearch[Name] | undefined }) =>
    navigate({ to: '.', search: (old: object) => readListSearch({ ...old, ...change }), replace: true });
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
        onApply={(search) => void apply({ search })}
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
