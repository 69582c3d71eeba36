import '@millrace/ui/i18n/parts/runs.ts';
import '@millrace/ui/i18n/parts/executions.ts';
import { Alert, Badge, Button, Group, Loader, Stack, Text, Tooltip } from '@mantine/core';
import { useOrg, useRole } from '@millrace/ui/api/me.ts';
import { useFilters } from '@millrace/ui/api/search-params.ts';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { Page } from '@millrace/ui/components/page.tsx';
import { MoreButton } from '@millrace/ui/components/paged-list.tsx';
import { EmptyState, ErrorState, LoadingRows } from '@millrace/ui/components/states.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { Link } from '@tanstack/react-router';
import { Activity, Radio, SearchX } from 'lucide-react';
import { type ReactNode, useDeferredValue, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { readListSearch } from '../common/search.ts';
import { BulkBar } from './bulk.tsx';
import { ExecutionTable } from './execution-table.tsx';
import { Filters } from './filters.tsx';
import { ListHead } from './list-head.tsx';
import { useExecutions } from './use-executions.ts';
import { usePageSize } from './use-page-size.ts';
import { useSearchFurther } from './use-search-further.ts';
import { useSelection } from './use-selection.ts';

const RunCharts = lazyPart(async () => (await import('../charts/run-charts.tsx')).RunCharts);

type List = ReturnType<typeof useExecutions>['list'];

/** All executions of the organisation, or of one workflow, live. */
export function ExecutionsPage({
  workflowId,
}: {
  /** On the page of this workflow, which has a title of its own. */
  workflowId?: number;
}) {
  const { t } = useTranslation();
  const { can } = useRole();
  const [filters, apply] = useFilters(readListSearch);
  const text = JSON.stringify(filters);
  const search = useMemo(
    () => ({
      ...readListSearch(JSON.parse(text)),
      ...(workflowId === undefined ? {} : { workflow: workflowId }),
    }),
    [text, workflowId],
  );
  const [pageSize, setPageSize] = usePageSize();
  const { list, query, fresh, showFresh, isLive } = useExecutions(search, pageSize);
  const items = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? [], [list.data]);
  // A hundred rows changing together must not block user input.
  const drawn = useDeferredValue(items);
  const selection = useSelection(items, text);
  const { chosen, selected } = selection;
  const isFiltered = Object.keys(filters).length > 0;
  const Frame = workflowId === undefined ? Page : PartOfPage;
  return (
    <Frame title={t('runs.title')} actions={<LiveMark isLive={isLive} />} width={1400}>
      <Filters search={filters} apply={apply} isOfWorkflow={workflowId !== undefined} />
      {search.workflow !== undefined && <RunCharts key={search.workflow} workflowId={search.workflow} />}
      <ListHead
        query={list.isSuccess && !list.isPlaceholderData ? query : undefined}
        newestId={items[0]?.id}
        fresh={fresh}
        onShowFresh={showFresh}
        pageSize={pageSize}
        onPageSize={setPageSize}
      />
      {list.isPending && <LoadingRows />}
      {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {items.length > 0 && (
        <Stack gap="sm" opacity={list.isPlaceholderData ? 0.5 : 1}>
          <ExecutionTable
            items={drawn}
            isWhole={!list.hasNextPage}
            selected={selected}
            onSelect={can('editor') ? selection.select : null}
          />
        </Stack>
      )}
      {list.isSuccess && items.length === 0 && !list.hasNextPage && (
        <Nothing isFiltered={isFiltered} workflowId={workflowId} />
      )}
      {list.isSuccess && <More key={text} list={list} hasItems={items.length > 0} />}
      {chosen.length > 0 && query !== undefined && (
        <BulkBar
          items={chosen}
          query={query}
          isCut={selection.isCut}
          hasMore={list.hasNextPage && !selection.isGathered}
          onGathered={selection.take}
          onClear={selection.clear}
        />
      )}
      {can('editor') && items.length > 0 && <Hint visibleFrom="sm">{t('runs.keys')}</Hint>}
    </Frame>
  );
}

/** Below the title of another page. */
function PartOfPage({
  title,
  actions,
  children,
}: {
  title: string;
  actions: ReactNode;
  children: ReactNode;
}) {
  return (
    <Stack component="section" gap="md" p={{ base: 'sm', sm: 'lg' }} aria-label={title}>
      <Group justify="flex-end">{actions}</Group>
      {children}
    </Stack>
  );
}

function LiveMark({ isLive }: { isLive: boolean }) {
  const { t } = useTranslation();
  return (
    <Tooltip label={t('runs.liveHint')}>
      <Badge color={isLive ? 'green' : 'gray'} leftSection={<Radio size={12} aria-hidden />} role="status">
        {isLive ? t('runs.live') : t('runs.notLive')}
      </Badge>
    </Tooltip>
  );
}

function More({ list, hasItems }: { list: List; hasItems: boolean }) {
  const { t } = useTranslation();
  const searching = useSearchFurther(list, !hasItems);
  const searchedTo = list.data?.pages.at(-1)?.searched_back_to ?? null;
  if (!list.hasNextPage) {
    return hasItems ? <Hint ta="center">{t('runs.end')}</Hint> : null;
  }
  if (searchedTo === null) return <MoreButton list={list} />;
  return (
    <Alert variant="light" color="gray" {...(hasItems ? {} : { title: t('runs.noMatchSoFar') })}>
      <Group justify="space-between">
        <Text size="sm" role="status">
          {t('runs.searchedTo')} <Moment at={searchedTo} relative={false} />
        </Text>
        {searching.isOn ? (
          <Button variant="default" leftSection={<Loader size={14} aria-hidden />} onClick={searching.stop}>
            {t('runs.stopSearch')}
          </Button>
        ) : (
          <Button variant="default" onClick={searching.begin}>
            {t('runs.searchOn')}
          </Button>
        )}
      </Group>
    </Alert>
  );
}

function Nothing({ isFiltered, workflowId }: { isFiltered: boolean; workflowId: number | undefined }) {
  const { t } = useTranslation();
  const org = useOrg();
  if (isFiltered) {
    return (
      <EmptyState
        icon={SearchX}
        title={t('runs.noMatchTitle')}
        action={
          <Button variant="default" renderRoot={(props) => <Link {...props} to="." search={{} as never} />}>
            {t('runs.filters.clear')}
          </Button>
        }
      >
        {t('runs.noMatchText')}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={Activity}
      title={t('runs.emptyTitle')}
      action={
        <Button
          component={Link}
          to={`/o/${org}/workflows${workflowId === undefined ? '' : `/${workflowId}`}`}
          variant="default"
        >
          {t(workflowId === undefined ? 'runs.emptyAction' : 'runs.emptyActionHere')}
        </Button>
      }
    >
      {t('runs.emptyText')}
    </EmptyState>
  );
}
