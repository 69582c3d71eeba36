import { Button, Group, Select, Text } from '@mantine/core';
import type { ExecutionItem, ResponseBody } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { useQuery } from '@tanstack/react-query';
import type { TFunction } from 'i18next';
import { ArrowUp } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import classes from '../common/executions.module.css';
import { type ListQuery, MAX_FRESH } from './use-executions.ts';
import { PAGE_SIZES } from './use-page-size.ts';

const COUNT = 'GET /orgs/:org/executions/count';
const COUNT_STALE_MS = 60_000;

/**
 * Above the rows: how many there are, how many are new, and how many are loaded at a time. It stays in view and keeps its height: new
 * executions are announced instead of inserted, because what the user reads must not move.
 */
export function ListHead({
  query,
  newestId,
  fresh,
  onShowFresh,
  pageSize,
  onPageSize,
}: {
  /** Undefined until the list is loaded. */
  query: ListQuery | undefined;
  /** Of those shown. */
  newestId: number | undefined;
  fresh: readonly ExecutionItem[];
  onShowFresh: () => void;
  pageSize: number;
  onPageSize: (size: number) => void;
}) {
  const { t } = useTranslation();
  return (
    <Group className={classes.listHead} gap="sm" wrap="nowrap">
      <Count query={query} newestId={newestId} />
      <div role="status" className={classes.fresh}>
        {fresh.length > 0 && (
          <Button
            variant="light"
            size="compact-sm"
            leftSection={<ArrowUp size={14} aria-hidden />}
            onClick={() => {
              onShowFresh();
              window.scrollTo({ top: 0 });
            }}
          >
            {fresh.length < MAX_FRESH
              ? t('runs.fresh', { count: fresh.length })
              : t('runs.freshMany', { shown: MAX_FRESH.toLocaleString() })}{' '}
            · {t('runs.showFresh')}
          </Button>
        )}
      </div>
      {newestId !== undefined && (
        <Select
          size="xs"
          w={92}
          aria-label={t('runs.pageSize')}
          data={PAGE_SIZES.map((size) => ({
            value: String(size),
            label: t('runs.rows', { count: size }),
          }))}
          value={String(pageSize)}
          onChange={(size) => onPageSize(Number(size))}
          allowDeselect={false}
        />
      )}
    </Group>
  );
}

/** Read again with the list: numbers beside other rows than they count would mislead. */
function Count({ query, newestId }: { query: ListQuery | undefined; newestId: number | undefined }) {
  const { t } = useTranslation();
  const org = useOrg();
  const { data } = useQuery({
    queryKey: [COUNT, { org }, query, newestId ?? null],
    queryFn: ({ signal }) => call(COUNT, { params: { org }, query: query ?? {}, signal }),
    enabled: query !== undefined && newestId !== undefined,
    staleTime: COUNT_STALE_MS,
    refetchOnWindowFocus: false,
  });
  return (
    <Text size="sm" c="dimmed" className={classes.count}>
      {data !== undefined && newestId !== undefined && countText(t, data)}
    </Text>
  );
}

function countText(t: TFunction, { count, precision }: ResponseBody<typeof COUNT>): string {
  const number = { count, shown: (precision === 'exact' ? count : roundDown(count)).toLocaleString() };
  if (precision === 'exact') return t('runs.count.exact', number);
  if (precision === 'about') return t('runs.count.about', number);
  return count === 0 ? '' : t('runs.count.atLeast', number);
}

/** Two digits: more would claim to be known. */
function roundDown(count: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, count))) - 1);
  return Math.floor(count / unit) * unit;
}
