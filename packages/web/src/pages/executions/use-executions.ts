import type { Answer, ExecutionItem } from '@millrace/admin-api';
import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import { call } from '../../api/client.ts';
import { serviceNow } from '../../api/clock.ts';
import { useEvents } from '../../api/events.ts';
import { useOrg } from '../../api/me.ts';
import { fits, type ListSearch, toQuery } from './search.ts';
import { isUnderWay } from './use-now.ts';

const PAGE_SIZE = 50;
/** As many as the service takes at once. */
const MAX_IDS = 200;
const LIST = 'GET /orgs/:org/executions';

type ListPage = Answer<typeof LIST>;
type Pages = InfiniteData<ListPage, string | null>;

/** The list as it is read page by page, kept up to date by the service's events. */
export function useExecutions(search: ListSearch) {
  const org = useOrg();
  const client = useQueryClient();
  // A range that moves with the time stands still while it is read: its pages belong together.
  const { key, query } = useMemo(() => {
    return { key: [LIST, { org }, search], query: toQuery(search, serviceNow()) };
  }, [org, search]);
  const list = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => readPage(org, query, PAGE_SIZE, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
    // Events keep it up to date; reading all pages again would move what somebody looks at.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    gcTime: 0,
  });
  const [fresh, setFresh] = useState<readonly ExecutionItem[]>([]);
  const [freshFor, setFreshFor] = useState(key);
  if (freshFor !== key) {
    setFreshFor(key);
    setFresh([]);
  }

  const take = (items: readonly ExecutionItem[]) => {
    const pages = client.getQueryData<Pages>(key);
    if (pages === undefined) return;
    const known = new Set(pages.pages.flatMap((page) => page.items.map(({ id }) => id)));
    if (items.some(({ id }) => known.has(id))) client.setQueryData<Pages>(key, putInPlace(pages, items));
    const newest = pages.pages[0]?.items[0]?.id ?? 0;
    const isNew = (item: ExecutionItem) =>
      !known.has(item.id) && item.id > newest && fits(item, search, serviceNow());
    setFresh((before) => merge(before, items, isNew));
    // Where there is nothing, nothing can jump.
    if (newest === 0 && items.some(isNew)) showFresh();
  };
  // Several may be missed while it is read what was missed: once more is enough.
  const isBehind = useRef(false);
  const isReading = useRef(false);
  const catchUp = async (): Promise<readonly ExecutionItem[]> => {
    isBehind.current = true;
    if (isReading.current) return [];
    isReading.current = true;
    const found: ExecutionItem[] = [];
    try {
      while (isBehind.current) {
        isBehind.current = false;
        const shown = client.getQueryData<Pages>(key)?.pages.flatMap((page) => page.items) ?? [];
        found.push(...(await readPage(org, query, PAGE_SIZE, null)).items, ...(await readAgain(org, shown)));
      }
    } finally {
      isReading.current = false;
    }
    return found;
  };
  const showFresh = () => {
    setFresh([]);
    void client.resetQueries({ queryKey: key, exact: true });
  };
  const isLive = useEvents(
    `${LIST}/events`,
    { params: { org } },
    {
      changed: ({ items }) => take(items),
      missed: () => void catchUp().then(take, ignore),
    },
  );
  return { list, query, fresh, showFresh, isLive };
}

/** What a list shows, as the service is asked for it. */
export type ListQuery = ReturnType<typeof toQuery>;

/** One page of the list. */
export function readPage(
  org: number,
  query: ListQuery,
  limit: number,
  cursor: string | null,
  signal?: AbortSignal,
): Promise<ListPage> {
  return call(LIST, {
    params: { org },
    query: { limit, ...query, ...(cursor === null ? {} : { cursor }) },
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Those that may have changed, as they are now. */
async function readAgain(org: number, shown: readonly ExecutionItem[]): Promise<ExecutionItem[]> {
  const ids = shown.filter(({ status }) => isUnderWay(status)).map(({ id }) => id);
  const items: ExecutionItem[] = [];
  for (let from = 0; from < ids.length; from += MAX_IDS) {
    const query = { ids: ids.slice(from, from + MAX_IDS).join() };
    items.push(...(await call(LIST, { params: { org }, query })).items);
  }
  return items;
}

/** Rows keep their place, whatever became of them. One that has ended stays so: what was read before may come after. */
function putInPlace(pages: Pages, items: readonly ExecutionItem[]): Pages {
  const latest = new Map(items.map((item) => [item.id, item]));
  return {
    ...pages,
    pages: pages.pages.map((page) => ({
      ...page,
      items: page.items.map((item) => (isUnderWay(item.status) ? (latest.get(item.id) ?? item) : item)),
    })),
  };
}

function merge(
  before: readonly ExecutionItem[],
  items: readonly ExecutionItem[],
  isNew: (item: ExecutionItem) => boolean,
): readonly ExecutionItem[] {
  const added = items.filter(isNew);
  if (added.length === 0) return before;
  const byId = new Map([...before, ...added].map((item) => [item.id, item]));
  return [...byId.values()];
}

/** The stream tells again what could not be read now. */
function ignore(): void {}
