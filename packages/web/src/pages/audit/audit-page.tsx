import '@millrace/ui/i18n/parts/audit.ts';
import { Button, Menu, Select, SimpleGrid } from '@mantine/core';
import { addressOf } from '@millrace/ui/api/client.ts';
import { useOrg, useRole } from '@millrace/ui/api/me.ts';
import { usePages } from '@millrace/ui/api/pages.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { type ApplyFilters, useFilters } from '@millrace/ui/api/search-params.ts';
import { FilterInput } from '@millrace/ui/components/filter-input.tsx';
import { Page } from '@millrace/ui/components/page.tsx';
import { PagedList } from '@millrace/ui/components/paged-list.tsx';
import { EmptyState } from '@millrace/ui/components/states.tsx';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Braces, ChevronDown, Download, ScrollText, SearchX, Sheet } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useActionGroups } from './action-text.ts';
import { ACTORS, type AuditSearch, readAuditSearch, toQuery } from './audit-search.ts';
import { AuditTable } from './audit-table.tsx';
import { ChainState } from './chain-state.tsx';

const PAGE_SIZE = 50;

/** What was done in the organisation, by whom and from where. */
export function AuditPage() {
  const { t } = useTranslation();
  const [filters, apply] = useFilters(readAuditSearch);
  const { can } = useRole();
  const list = usePages(
    'GET /orgs/:org/audit',
    { params: { org: useOrg() }, query: { limit: PAGE_SIZE, ...toQuery(filters) } },
    // Refetch when the log is opened again.
    { keepsPrevious: true, staleTime: 0 },
  );
  return (
    <Page
      title={t('audit.title')}
      description={t('audit.about')}
      actions={can('org_admin') && <ExportMenu filters={filters} />}
    >
      <ChainState />
      <AuditFilters filters={filters} apply={apply} />
      <PagedList list={list} empty={<Nothing isFiltered={Object.keys(filters).length > 0} />}>
        {(items) => <AuditTable items={items} />}
      </PagedList>
    </Page>
  );
}

/** Downloads all matching entries, however many. */
function ExportMenu({ filters }: { filters: AuditSearch }) {
  const { t } = useTranslation();
  const options = { params: { org: useOrg() }, query: toQuery(filters) };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant="default"
          leftSection={<Download size={14} aria-hidden />}
          rightSection={<ChevronDown size={14} aria-hidden />}
        >
          {t('audit.export')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          component="a"
          href={addressOf('GET /orgs/:org/audit/csv', options)}
          download
          leftSection={<Sheet size={14} />}
        >
          {t('audit.exportCsv')}
        </Menu.Item>
        <Menu.Item
          component="a"
          href={addressOf('GET /orgs/:org/audit/jsonl', options)}
          download
          leftSection={<Braces size={14} />}
        >
          {t('audit.exportJsonl')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  if (!isFiltered) {
    return (
      <EmptyState icon={ScrollText} title={t('audit.empty')}>
        {t('audit.emptyHint')}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={SearchX}
      title={t('audit.nothingFound')}
      action={
        <Button variant="default" onClick={() => navigate({ to: '.', search: {}, replace: true })}>
          {t('audit.clear')}
        </Button>
      }
    >
      {t('audit.nothingFoundHint')}
    </EmptyState>
  );
}

/** The filters; stored in the address, so that the view can be shared. */
function AuditFilters({ filters, apply }: { filters: AuditSearch; apply: ApplyFilters<AuditSearch> }) {
  const { t } = useTranslation();
  const org = useOrg();
  const actions = useQuery(endpointQuery('GET /orgs/:org/audit/actions', { params: { org } }));
  const groups = useActionGroups(actions.data?.items ?? []);
  return (
    <SimpleGrid
      cols={{ base: 2, sm: 4, xl: 7 }}
      spacing="xs"
      verticalSpacing="xs"
      role="search"
      aria-label={t('audit.filters')}
    >
      <Select
        label={t('audit.action')}
        placeholder={t('audit.anyAction')}
        data={groups}
        value={filters.action ?? null}
        onChange={(action) => apply({ action: action ?? undefined })}
        searchable
        clearable
      />
      <Select
        label={t('audit.doneBy')}
        placeholder={t('audit.anyActor')}
        data={ACTORS.map((actor) => ({ value: actor, label: t(`audit.actor.${actor}`) }))}
        value={filters.actor ?? null}
        onChange={(actor) => apply({ actor: (actor ?? undefined) as AuditSearch['actor'] })}
        clearable
      />
      <FilterInput
        label={t('audit.who')}
        placeholder={t('audit.whoHint')}
        value={filters.who}
        onApply={(who) => apply({ who })}
      />
      <FilterInput
        label={t('audit.subject')}
        placeholder={t('audit.aboutHint')}
        value={filters.about}
        onApply={(about) => apply({ about })}
      />
      <FilterInput
        label={t('audit.ip')}
        placeholder={t('audit.ipHint')}
        value={filters.ip}
        onApply={(ip) => apply({ ip })}
      />
      <FilterInput
        type="datetime-local"
        label={t('audit.from')}
        value={filters.from}
        onApply={(from) => apply({ from })}
      />
      <FilterInput
        type="datetime-local"
        label={t('audit.to')}
        value={filters.to}
        onApply={(to) => apply({ to })}
      />
    </SimpleGrid>
  );
}
