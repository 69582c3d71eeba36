import { Select, SimpleGrid } from '@mantine/core';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { FilterInput } from '@millrace/ui/components/filter-input.tsx';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useActionGroups } from './action-text.ts';
import { ACTORS, type AuditSearch, readAuditSearch } from './audit-search.ts';

/** The filters; they stand in the address, so that what one sees can be sent to somebody. */
export function AuditFilters({ filters }: { filters: AuditSearch }) {
  const { t } = useTranslation();
  const org = useOrg();
  const navigate = useNavigate();
  const actions = useQuery(endpointQuery('GET /orgs/:org/audit/actions', { params: { org } }));
  const groups = useActionGroups(actions.data?.items ?? []);
  const apply = (change: { readonly [Name in keyof AuditSearch]: AuditSearch[Name] | undefined }) =>
    navigate({ to: '.', search: (old: object) => readAuditSearch({ ...old, ...change }), replace: true });
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
