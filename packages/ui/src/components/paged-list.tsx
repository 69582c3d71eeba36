import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorState, LoadingRows } from './states.tsx';

/** A query whose answer is shown. */
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

/** What shows in place of an answer: that it is coming, or why it did not come; nothing once it is there. */
export function QueryState({ query, rows }: { query: ShownQuery; rows?: number }) {
  if (query.isPending) return <LoadingRows {...(rows === undefined ? {} : { rows })} />;
  return query.error === null ? null : (
    <ErrorState error={query.error} onRetry={() => void query.refetch()} />
  );
}

/** A list that is read page by page, in whatever state it is. */
export function PagedList<Item>({
  list,
  rows,
  empty = null,
  children,
}: {
  list: PagedQuery<Item>;
  rows?: number;
  /** Shown when there is nothing. */
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

/** Shows the next page of a list; nothing when there is none. */
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
