import { Alert, Badge, Button, Group, Stack, Text, Tooltip } from '@mantine/core';
import type { ExecutionItem } from '@millrace/admin-api';
import { Link, useSearch } from '@tanstack/react-router';
import { Activity, ArrowUp, Radio, SearchX } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useOrg, useRole } from '../../api/me.ts';
import { Page } from '../../ui/page.tsx';
import { EmptyState, ErrorState, LoadingRows } from '../../ui/states.tsx';
import { Moment } from '../../ui/time.tsx';
import { BulkBar } from './bulk.tsx';
import { ExecutionTable } from './execution-table.tsx';
import { Filters } from './filters.tsx';
import { readListSearch } from './search.ts';
import { useExecutions } from './use-executions.ts';

/** All executions of the organisation, as they come and go. */
export function ExecutionsPage() {
  const { t } = useTranslation();
  const { can } = useRole();
  const given = useSearch({ strict: false }) as { readonly [name: string]: unknown };
  const text = JSON.stringify(readListSearch(given));
  const search = useMemo(() => readListSearch(JSON.parse(text)), [text]);
  const { list, fresh, showFresh, isLive } = useExecutions(search);
  const items = list.data?.pages.flatMap((page) => page.items) ?? [];
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set());
  const select = (ids: readonly number[], isSelected: boolean) =>
    setSelected((before) => {
      const next = new Set(before);
      for (const id of ids) {
        if (isSelected) next.add(id);
        else next.delete(id);
      }
      return next;
    });
  const chosen = items.filter(({ id }) => selected.has(id));
  const isFiltered = Object.keys(search).length > 0;
  return (
    <Page title={t('executions.title')} actions={<LiveMark isLive={isLive} />} width={1400}>
      <Filters search={search} />
      <Fresh items={fresh} onShow={showFresh} />
      {list.isPending && <LoadingRows />}
      {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {items.length > 0 && (
        <Stack gap="sm" opacity={list.isPlaceholderData ? 0.5 : 1}>
          <ExecutionTable items={items} selected={selected} onSelect={can('editor') ? select : null} />
        </Stack>
      )}
      {list.isSuccess && items.length === 0 && !list.hasNextPage && <Nothing isFiltered={isFiltered} />}
      {list.isSuccess && <More list={list} hasItems={items.length > 0} />}
      {chosen.length > 0 && <BulkBar items={chosen} onClear={() => setSelected(new Set())} />}
      {can('editor') && items.length > 0 && (
        <Text size="xs" c="dimmed" visibleFrom="sm">
          {t('executions.keys')}
        </Text>
      )}
    </Page>
  );
}

function LiveMark({ isLive }: { readonly isLive: boolean }) {
  const { t } = useTranslation();
  return (
    <Tooltip label={t('executions.liveHint')}>
      <Badge color={isLive ? 'green' : 'gray'} leftSection={<Radio size={12} aria-hidden />} role="status">
        {isLive ? t('executions.live') : t('executions.notLive')}
      </Badge>
    </Tooltip>
  );
}

/** New ones are announced and wait: what somebody reads must not move. */
function Fresh({ items, onShow }: { readonly items: readonly ExecutionItem[]; readonly onShow: () => void }) {
  const { t } = useTranslation();
  return (
    <div role="status">
      {items.length > 0 && (
        <Button
          variant="light"
          fullWidth
          leftSection={<ArrowUp size={14} aria-hidden />}
          onClick={() => {
            onShow();
            window.scrollTo({ top: 0 });
          }}
        >
          {t('executions.fresh', { count: items.length })} · {t('executions.showFresh')}
        </Button>
      )}
    </div>
  );
}

function More({
  list,
  hasItems,
}: {
  readonly list: ReturnType<typeof useExecutions>['list'];
  readonly hasItems: boolean;
}) {
  const { t } = useTranslation();
  const searchedTo = list.data?.pages.at(-1)?.searched_back_to ?? null;
  const goOn = () => void list.fetchNextPage();
  if (!list.hasNextPage) {
    return hasItems ? (
      <Text size="xs" c="dimmed" ta="center">
        {t('executions.end')}
      </Text>
    ) : null;
  }
  if (searchedTo === null) {
    return (
      <Button variant="default" mx="auto" loading={list.isFetchingNextPage} onClick={goOn}>
        {t('common.loadMore')}
      </Button>
    );
  }
  return (
    <Alert variant="light" color="gray" {...(hasItems ? {} : { title: t('executions.noMatchSoFar') })}>
      <Group justify="space-between">
        <Text size="sm">
          {t('executions.searchedTo')} <Moment at={searchedTo} relative={false} />
        </Text>
        <Button variant="default" loading={list.isFetchingNextPage} onClick={goOn}>
          {t('executions.searchOn')}
        </Button>
      </Group>
    </Alert>
  );
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  const { t } = useTranslation();
  const org = useOrg();
  if (isFiltered) {
    return (
      <EmptyState
        icon={SearchX}
        title={t('executions.noMatchTitle')}
        action={
          <Button component={Link} to={`/o/${org}/executions`} variant="default">
            {t('executions.filters.clear')}
          </Button>
        }
      >
        {t('executions.noMatchText')}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={Activity}
      title={t('executions.emptyTitle')}
      action={
        <Button component={Link} to={`/o/${org}/workflows`} variant="default">
          {t('executions.emptyAction')}
        </Button>
      }
    >
      {t('executions.emptyText')}
    </EmptyState>
  );
}
