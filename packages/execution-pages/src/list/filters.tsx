import { Button, Group, MultiSelect, Select, type SelectProps, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { EXECUTION_STATUSES } from '@millrace/engine';
import { useOrg, useRole } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import type { ApplyFilters } from '@millrace/ui/api/search-params.ts';
import { FilterInput } from '@millrace/ui/components/filter-input.tsx';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { FilterX, Search } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type ListSearch, RANGES, TRIGGERS } from '../common/search.ts';

const TYPING_PAUSE_MS = 300;
/** The service's page limit; a key beyond it is shown by its id. */
const MAX_KEYS = 200;

/** The list's filters, stored in the address. */
export function Filters({ search, apply }: { search: ListSearch; apply: ApplyFilters<ListSearch> }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { can } = useRole();
  const statuses = search.status?.split(',') ?? [];
  return (
    <Group gap="xs" role="search" aria-label={t('executions.filters.label')} align="flex-end">
      <TextFilter text={search.text} apply={apply} />
      <MultiSelect
        w={statuses.length > 1 ? 240 : 140}
        aria-label={t('executions.filters.status')}
        placeholder={statuses.length === 0 ? t('executions.filters.anyStatus') : ''}
        data={EXECUTION_STATUSES.map((value) => ({ value, label: t(`executions.status.${value}`) }))}
        value={statuses}
        onChange={(value) => apply({ status: value.join() })}
        clearable
      />
      <WorkflowFilter id={search.workflow} onChange={(workflow) => apply({ workflow })} />
      <Select
        w={128}
        aria-label={t('executions.filters.trigger')}
        placeholder={t('executions.filters.anyTrigger')}
        data={TRIGGERS.map((value) => ({ value, label: t(`executions.trigger.${value}`) }))}
        value={search.trigger ?? null}
        onChange={(value) => apply({ trigger: value ?? undefined })}
        clearable
      />
      <Select
        w={170}
        aria-label={t('executions.filters.test')}
        placeholder={t('executions.filters.anyTest')}
        data={[
          { value: 'yes', label: t('executions.filters.onlyTest') },
          { value: 'no', label: t('executions.filters.noTest') },
        ]}
        value={search.test ?? null}
        onChange={(value) => apply({ test: value === 'yes' || value === 'no' ? value : undefined })}
        clearable
      />
      <Select
        w={144}
        aria-label={t('executions.filters.range')}
        placeholder={t('executions.filters.anyTime')}
        data={RANGES.map((value) => ({ value, label: t(`executions.filters.ranges.${value}`) }))}
        value={search.range ?? null}
        onChange={(value) => apply({ range: RANGES.find((each) => each === value) })}
        clearable
      />
      {search.range === 'custom' && (
        <>
          <MomentInput
            label={t('executions.filters.after')}
            value={search.after}
            onChange={(after) => apply({ after })}
          />
          <MomentInput
            label={t('executions.filters.before')}
            value={search.before}
            onChange={(before) => apply({ before })}
          />
        </>
      )}
      {can('org_admin') && (
        <>
          <KeyFilter id={search.key} onChange={(key) => apply({ key })} />
          <FilterInput
            w={150}
            aria-label={t('executions.filters.ip')}
            placeholder={t('executions.filters.ip')}
            value={search.ip}
            onApply={(ip) => apply({ ip })}
          />
        </>
      )}
      {Object.keys(search).length > 0 && (
        <Button
          variant="subtle"
          color="gray"
          leftSection={<FilterX size={14} aria-hidden />}
          onClick={() => void navigate({ to: '.', search: {}, replace: true })}
        >
          {t('executions.filters.clear')}
        </Button>
      )}
    </Group>
  );
}

/** Selects an item by id; an unlisted one is shown by its id. */
function IdSelect({
  id,
  items,
  onChange,
  ...select
}: Omit<SelectProps, 'id' | 'onChange'> &
  IdFilterProps & { items: readonly { value: string; label: string }[] }) {
  const isListed = id === undefined || items.some(({ value }) => value === String(id));
  return (
    <Select
      data={isListed ? items : [{ value: String(id), label: `#${id}` }, ...items]}
      value={id === undefined ? null : String(id)}
      onChange={(value) => onChange(value === null ? undefined : Number(value))}
      searchable
      clearable
      {...select}
    />
  );
}

/** Includes revoked and expired keys: users may look for what those started. */
function KeyFilter({ id, onChange }: IdFilterProps) {
  const { t } = useTranslation();
  const org = useOrg();
  const { data } = useQuery(
    endpointQuery('GET /orgs/:org/keys', { params: { org }, query: { limit: MAX_KEYS, ended: true } }),
  );
  const items = (data?.items ?? []).map((key) => ({
    value: String(key.id),
    label: t('executions.key', { name: key.name, end: key.last_four }),
  }));
  return (
    <IdSelect
      w={190}
      aria-label={t('executions.filters.key')}
      placeholder={t('executions.filters.anyKey')}
      items={items}
      id={id}
      onChange={onChange}
    />
  );
}

function TextFilter({ text, apply }: { text: string | undefined; apply: ApplyFilters<ListSearch> }) {
  const { t } = useTranslation();
  const org = useOrg();
  const id = /^\s*#?([1-9]\d{0,14})\s*$/.exec(text ?? '')?.[1];
  return (
    <>
      <FilterInput
        flex={1}
        miw={150}
        maw={320}
        aria-label={t('executions.filters.text')}
        placeholder={t('executions.filters.text')}
        leftSection={<Search size={14} aria-hidden />}
        value={text}
        onApply={(next) => apply({ text: next })}
      />
      {id !== undefined && (
        <Button component={Link} to={`/o/${org}/executions/${id}`} variant="light">
          {t('executions.filters.openId', { id })}
        </Button>
      )}
    </>
  );
}

interface IdFilterProps {
  id: number | undefined;
  onChange: (id: number | undefined) => void;
}

function WorkflowFilter({ id, onChange }: IdFilterProps) {
  const { t } = useTranslation();
  const org = useOrg();
  const [text, setText] = useState('');
  // A selected label isn't a search.
  const [search] = useDebouncedValue(/ · #\d+$/.test(text) ? '' : text, TYPING_PAUSE_MS);
  const { data } = useQuery(
    endpointQuery('GET /orgs/:org/workflows', {
      params: { org },
      query: { limit: 50, status: 'all', search },
    }),
  );
  const items = (data?.items ?? []).map((each) => ({
    value: String(each.id),
    label: `${each.name} · #${each.id}`,
  }));
  return (
    <IdSelect
      w={160}
      aria-label={t('executions.filters.workflow')}
      placeholder={t('executions.filters.anyWorkflow')}
      items={items}
      id={id}
      onChange={onChange}
      // The service has filtered already.
      filter={({ options }) => options}
      onSearchChange={setText}
    />
  );
}

function MomentInput({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  return (
    <TextInput
      type="datetime-local"
      w={190}
      aria-label={label}
      leftSection={<span style={{ fontSize: 'var(--mantine-font-size-xs)' }}>{label}</span>}
      leftSectionWidth={44}
      value={value === undefined ? '' : toLocal(value)}
      onChange={({ currentTarget }) => {
        const date = new Date(currentTarget.value);
        onChange(Number.isNaN(date.getTime()) ? undefined : date.toISOString());
      }}
    />
  );
}

/** The field's format: local time without a zone. */
function toLocal(moment: string): string {
  const date = new Date(moment);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
