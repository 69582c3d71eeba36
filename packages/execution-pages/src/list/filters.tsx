import { Button, Group, MultiSelect, Select, Stack, TextInput } from '@mantine/core';
import { EXECUTION_STATUSES } from '@millrace/engine';
import { useOrg, useRole } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import type { ApplyFilters } from '@millrace/ui/api/search-params.ts';
import { FilterInput } from '@millrace/ui/components/filter-input.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { localText } from '@millrace/ui/components/time.tsx';
import { WorkflowSelect } from '@millrace/ui/components/workflow-select.tsx';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { FilterX, Search } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { type ListSearch, RANGES, SEARCHED_IN, TRIGGERS } from '../common/search.ts';
import { ViewMenu } from './view-menu.tsx';

/** The service's page limit; a key beyond it is shown by its id. */
const MAX_KEYS = 200;

/** The list's filters, stored in the address. */
export function Filters({
  search,
  apply,
  isOfWorkflow,
}: {
  search: ListSearch;
  apply: ApplyFilters<ListSearch>;
  /** Its workflow is fixed. */
  isOfWorkflow: boolean;
}) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { can } = useRole();
  const statuses = search.status?.split(',') ?? [];
  return (
    <Stack gap={4}>
      <Group gap="xs" role="search" aria-label={t('runs.filters.label')} align="flex-end">
        <ViewMenu search={search} />
        <TextFilter text={search.text} place={search.in ?? 'name'} apply={apply} />
        <MultiSelect
          w={statuses.length > 1 ? 240 : 140}
          aria-label={t('runs.filters.status')}
          placeholder={statuses.length === 0 ? t('runs.filters.anyStatus') : ''}
          data={EXECUTION_STATUSES.map((value) => ({ value, label: t(`executions.status.${value}`) }))}
          value={statuses}
          onChange={(value) => apply({ status: value.join() })}
          clearable
        />
        {!isOfWorkflow && (
          <WorkflowSelect
            w={160}
            aria-label={t('runs.filters.workflow')}
            placeholder={t('runs.filters.anyWorkflow')}
            id={search.workflow ?? null}
            onChange={(workflow) => apply({ workflow: workflow ?? undefined })}
            hasArchived
          />
        )}
        <Select
          w={128}
          aria-label={t('runs.filters.trigger')}
          placeholder={t('runs.filters.anyTrigger')}
          data={TRIGGERS.map((value) => ({ value, label: t(`executions.trigger.${value}`) }))}
          value={search.trigger ?? null}
          onChange={(value) => apply({ trigger: value ?? undefined })}
          clearable
        />
        <Select
          w={170}
          aria-label={t('runs.filters.test')}
          placeholder={t('runs.filters.anyTest')}
          data={[
            { value: 'yes', label: t('runs.filters.onlyTest') },
            { value: 'no', label: t('runs.filters.noTest') },
          ]}
          value={search.test ?? null}
          onChange={(value) => apply({ test: value === 'yes' || value === 'no' ? value : undefined })}
          clearable
        />
        <Select
          w={144}
          aria-label={t('runs.filters.range')}
          placeholder={t('runs.filters.anyTime')}
          data={RANGES.map((value) => ({ value, label: t(`runs.filters.ranges.${value}`) }))}
          value={search.range ?? null}
          onChange={(value) => apply({ range: RANGES.find((each) => each === value) })}
          clearable
        />
        {search.range === 'custom' && (
          <>
            <MomentInput
              label={t('runs.filters.after')}
              value={search.after}
              onChange={(after) => apply({ after })}
            />
            <MomentInput
              label={t('runs.filters.before')}
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
              aria-label={t('runs.filters.ip')}
              placeholder={t('runs.filters.ip')}
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
            {t('runs.filters.clear')}
          </Button>
        )}
      </Group>
      {search.in !== undefined && <Hint>{t(`runs.filters.placeHint.${search.in}`)}</Hint>}
    </Stack>
  );
}

/** Includes revoked and expired keys: users may look for what those started. */
function KeyFilter({ id, onChange }: { id: number | undefined; onChange: (id: number | undefined) => void }) {
  const { t } = useTranslation();
  const org = useOrg();
  const { data } = useQuery(
    endpointQuery('GET /orgs/:org/keys', { params: { org }, query: { limit: MAX_KEYS, ended: true } }),
  );
  const items = (data?.items ?? []).map((key) => ({
    value: String(key.id),
    label: t('executions.key', { name: key.name, end: key.last_four }),
  }));
  const value = id === undefined ? null : String(id);
  const isListed = value === null || items.some((item) => item.value === value);
  return (
    <Select
      w={190}
      aria-label={t('runs.filters.key')}
      placeholder={t('runs.filters.anyKey')}
      // An unlisted one is shown by its id.
      data={isListed ? items : [{ value, label: `#${id}` }, ...items]}
      value={value}
      onChange={(chosen) => onChange(chosen === null ? undefined : Number(chosen))}
      searchable
      clearable
    />
  );
}

function TextFilter({
  text,
  place,
  apply,
}: {
  text: string | undefined;
  place: 'name' | NonNullable<ListSearch['in']>;
  apply: ApplyFilters<ListSearch>;
}) {
  const { t } = useTranslation();
  const org = useOrg();
  const id = place === 'name' ? /^\s*#?([1-9]\d{0,14})\s*$/.exec(text ?? '')?.[1] : undefined;
  return (
    <>
      <Select
        w={132}
        aria-label={t('runs.filters.in')}
        data={(['name', ...SEARCHED_IN] as const).map((value) => ({
          value,
          label: t(`runs.filters.place.${value}`),
        }))}
        value={place}
        onChange={(value) => apply({ in: SEARCHED_IN.find((each) => each === value) })}
        allowDeselect={false}
      />
      <FilterInput
        flex={1}
        miw={150}
        maw={320}
        aria-label={t(`runs.filters.textIn.${place}`)}
        placeholder={t(`runs.filters.textIn.${place}`)}
        leftSection={<Search size={14} aria-hidden />}
        value={text}
        onApply={(next) => apply({ text: next })}
      />
      {id !== undefined && (
        <Button component={Link} to={`/o/${org}/executions/${id}`} variant="light">
          {t('runs.filters.openId', { id })}
        </Button>
      )}
    </>
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
      value={value === undefined ? '' : localText(new Date(value)).slice(0, 16)}
      onChange={({ currentTarget }) => {
        const date = new Date(currentTarget.value);
        onChange(Number.isNaN(date.getTime()) ? undefined : date.toISOString());
      }}
    />
  );
}
