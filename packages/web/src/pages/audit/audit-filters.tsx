import { Select, SimpleGrid, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useActionGroups } from './action-text.ts';
import { ACTORS, type AuditSearch, readAuditSearch } from './audit-search.ts';

const TYPING_PAUSE_MS = 300;

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
      <TypedFilter
        label={t('audit.who')}
        placeholder={t('audit.whoHint')}
        value={filters.who}
        onApply={(who) => apply({ who })}
      />
      <TypedFilter
        label={t('audit.subject')}
        placeholder={t('audit.aboutHint')}
        value={filters.about}
        onApply={(about) => apply({ about })}
      />
      <TypedFilter
        label={t('audit.ip')}
        placeholder={t('audit.ipHint')}
        value={filters.ip}
        onApply={(ip) => apply({ ip })}
      />
      <TypedFilter
        type="datetime-local"
        label={t('audit.from')}
        value={filters.from}
        onApply={(from) => apply({ from })}
      />
      <TypedFilter
        type="datetime-local"
        label={t('audit.to')}
        value={filters.to}
        onApply={(to) => apply({ to })}
      />
    </SimpleGrid>
  );
}

/** A field that filters when one stops typing, and follows when the filters are cleared elsewhere. */
function TypedFilter({
  label,
  placeholder,
  value,
  type = 'text',
  onApply,
}: {
  label: string;
  placeholder?: string;
  value: string | undefined;
  type?: 'text' | 'datetime-local';
  onApply: (value: string | undefined) => void;
}) {
  const [text, setText] = useState(value ?? '');
  const [seen, setSeen] = useState(value);
  if (value !== seen) {
    setSeen(value);
    setText(value ?? '');
  }
  const apply = useDebouncedCallback(
    (next: string) => onApply(next === '' ? undefined : next),
    TYPING_PAUSE_MS,
  );
  return (
    <TextInput
      type={type}
      label={label}
      {...(placeholder === undefined ? {} : { placeholder })}
      value={text}
      onChange={({ currentTarget: { value: next } }) => {
        setText(next);
        apply(next);
      }}
    />
  );
}
