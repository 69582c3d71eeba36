import { Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useOrg } from '../api/me.ts';
import { endpointQuery } from '../api/query.ts';

const TYPING_PAUSE_MS = 300;
const SHOWN = 50;

/** Selects a workflow by a part of its name; null: none is selected. */
export function WorkflowSelect({
  id,
  onChange,
  hasArchived = false,
  ...select
}: Omit<SelectProps, 'id' | 'value' | 'data' | 'onChange'> & {
  id: number | null;
  onChange: (id: number | null) => void;
  /** Offers archived ones, too. */
  hasArchived?: boolean;
}) {
  const org = useOrg();
  const [text, setText] = useState('');
  // A selected label isn't a search.
  const [search] = useDebouncedValue(/ · #\d+$/.test(text) ? '' : text, TYPING_PAUSE_MS);
  const { data } = useQuery(
    endpointQuery('GET /orgs/:org/workflows', {
      params: { org },
      query: { limit: SHOWN, search, ...(hasArchived ? { status: 'all' as const } : {}) },
    }),
  );
  const items = (data?.items ?? []).map((each) => ({
    value: String(each.id),
    label: `${each.name} · #${each.id}`,
  }));
  const value = id === null ? null : String(id);
  const isListed = value === null || items.some((item) => item.value === value);
  return (
    <Select
      {...select}
      data={isListed ? items : [{ value, label: `#${id}` }, ...items]}
      value={value}
      onChange={(chosen) => onChange(chosen === null ? null : Number(chosen))}
      onSearchChange={setText}
      // The service has filtered already.
      filter={({ options }) => options}
      searchable
      clearable
    />
  );
}
