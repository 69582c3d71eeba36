import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorState, LoadingRows } from './states.tsx';

/** The parts of a query that the UI shows. */
interface ShownQuery {
  readonly isPending: boolean;
  readonly isError: boolean;
  readonly error: Error | null;
  refetch(): unknown;
}

interface PagedQuery<Item> extends ShownQuery {
  readonly items: readonly Item[];
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  fetchNextPage(): unknown;
}

/** The loading or error state of a query; nothing once it has data. */
export function QueryState({ query, rows }: { query: ShownQuery; rows?: number }) {
  if (query.isPending) return <LoadingRows {...(rows === undefined ? {} : { rows })} />;
  return query.error === null ? null : (
    <ErrorState error={query.error} onRetry={() => void query.refetch()} />
  );
}

/** A paginated list in any state. */
export function PagedList<Item>({
  list,
  rows,
  empty = null,
  children,
}: {
  list: PagedQuery<Item>;
  rows?: number;
  /** Shown when the list is empty. */
  empty?: ReactNode;
  children: (items: readonly Item[]) => ReactNode;
}) {
  const { items, isPending, isError } = list;
  return (
    <>
      <QueryState query={list} {...(rows === undefined ? {} : { rows })} />
      {items.length > 0 ? children(items) : !isPending && !isError && empty}
      <MoreButton list={list} />
    </>
  );
}

/** Loads the next page; nothing on the last one. */
export function MoreButton({
  list,
}: {
  list: Pick<PagedQuery<unknown>, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>;
}) {
  const { t } = useTranslation();
  if (!list.hasNextPage) return null;
  return (
    <Button
      variant="default"
      mx="auto"
      mt="sm"
      display="block"
      loading={list.isFetchingNextPage}
      onClick={() => list.fetchNextPage()}
    >
      {t('common.loadMore')}
    </Button>
  );
}
