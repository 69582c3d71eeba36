import type { ExecutionItem, ResponseBody } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { serviceNow } from '@millrace/ui/api/clock.ts';
import { useEvents } from '@millrace/ui/api/events.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { fits, type ListSearch, needsService, toQuery } from '../common/search.ts';
import { isUnderWay } from '../common/under-way.ts';

/** The service's limit per request. */
const MAX_IDS = 200;
/** Minimum interval between catch-up fetches, however busy it is. */
const PAUSE_MS = 1_000;
/** How long pages stay cached for a user who returns. */
const KEPT_MS = 1_800_000;
/** New ones beyond this aren't counted. */
export const MAX_FRESH = 1_000;
const LIST = 'GET /orgs/:org/executions';

/** The list's filters in the service's format. */
export type ListQuery = ReturnType<typeof toQuery>;
/** Each page keeps its query: a relative range stays fixed while its pages are loaded. */
type ListPage = ResponseBody<typeof LIST> & { readonly query: ListQuery };
type Place = { readonly cursor: string; readonly query: ListQuery };
type Pages = InfiniteData<ListPage, Place | null>;

/** The paginated list, kept up to date by the service's events. */
export function useExecutions(search: ListSearch, pageSize: number) {
  const org = useOrg();
  const client = useQueryClient();
  const key = useListKey(org, search, pageSize);
  const list = useInfiniteQuery({
    queryKey: key,
    queryFn: async ({ pageParam, signal }): Promise<ListPage> => {
      const { cursor, query } = pageParam ?? { cursor: null, query: toQuery(search, serviceNow()) };
      return { ...(await readPage(org, query, pageSize, cursor, signal)), query };
    },
    initialPageParam: null as Place | null,
    getNextPageParam: ({ next_cursor: cursor, query }) => (cursor === null ? null : { cursor, query }),
    placeholderData: keepPreviousData,
    // Events keep it up to date; refetching all pages would move what the user is looking at.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    gcTime: KEPT_MS,
  });
  const query = list.data?.pages[0]?.query;
  const [fresh, setFresh] = useState<readonly ExecutionItem[]>([]);
  const [freshFor, setFreshFor] = useState(key);
  if (freshFor !== key) {
    setFreshFor(key);
    setFresh([]);
  }

  const shownKey = useRef(key);
  useEffect(() => {
    shownKey.current = key;
  });
  const take = (items: readonly ExecutionItem[], mayBeNew = true) => {
    const pages = client.getQueryData<Pages>(key);
    // Results for one list don't apply to another shown by then.
    if (pages === undefined || shownKey.current !== key) return;
    const known = new Set(pages.pages.flatMap((page) => page.items.map(({ id }) => id)));
    if (items.some(({ id }) => known.has(id))) client.setQueryData<Pages>(key, putInPlace(pages, items));
    const newest = pages.pages[0]?.items[0]?.id ?? 0;
    const isNew = (item: ExecutionItem) =>
      mayBeNew && !known.has(item.id) && item.id > newest && fits(item, search, serviceNow());
    setFresh((before) => merge(before, items, isNew));
    // An empty list has nothing that could jump.
    if (newest === 0 && items.some(isNew)) showFresh();
  };
  const showFresh = () => {
    setFresh([]);
    void client.resetQueries({ queryKey: key, exact: true });
  };
  // In steps, so that progress shows even while more events are missed.
  const catchUp = useCatchUp(async () => {
    const shown = client.getQueryData<Pages>(key)?.pages ?? [];
    const newest = await readPage(org, shown[0]?.query ?? toQuery(search, serviceNow()), pageSize, null);
    take(newest.items);
    const items = shown.flatMap((page) => page.items);
    await readAgain(org, items, (again) => take(again, false));
  });
  const isLive = useEvents(
    `${LIST}/events`,
    { params: { org } },
    {
      changed: ({ items }) => {
        take(items, !needsService(search));
        if (needsService(search)) catchUp();
      },
      missed: catchUp,
    },
  );
  return { list, query, fresh, showFresh, isLive };
}

/**
 * Going back restores the loaded pages, however many; a new visit starts fresh, even with the same filters: the
 * browser's history entry distinguishes them.
 */
function useListKey(org: number, search: ListSearch, pageSize: number): readonly unknown[] {
  const router = useRouter();
  return useMemo(
    () => [LIST, { org }, search, pageSize, router.latestLocation.state.__TSR_key],
    [org, search, pageSize, router],
  );
}

/** Fetches missed changes. Any number missed during a fetch need only one more. */
function useCatchUp(read: () => Promise<void>): () => void {
  const isBehind = useRef(false);
  const isReading = useRef(false);
  const isGone = useRef(false);
  const readNow = useEffectEvent(read);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
    };
  }, []);
  const begin = useEffectEvent(async () => {
    isBehind.current = true;
    if (isReading.current) return;
    isReading.current = true;
    while (isBehind.current && !isGone.current) {
      isBehind.current = false;
      // The stream reports again what can't be fetched now.
      await readNow().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    isReading.current = false;
  });
  return () => void begin();
}

/** One page of the list. */
export function readPage(
  org: number,
  query: ListQuery,
  limit: number,
  cursor: string | null,
  signal?: AbortSignal,
): Promise<ResponseBody<typeof LIST>> {
  return call(LIST, {
    params: { org },
    query: { limit, ...query, ...(cursor === null ? {} : { cursor }) },
    ...(signal === undefined ? {} : { signal }),
  });
}

/** The current state of executions that may have changed. */
async function readAgain(
  org: number,
  shown: readonly ExecutionItem[],
  take: (items: readonly ExecutionItem[]) => void,
): Promise<void> {
  const ids = shown.filter(({ status }) => isUnderWay(status)).map(({ id }) => id);
  for (let from = 0; from < ids.length; from += MAX_IDS) {
    const query = { ids: ids.slice(from, from + MAX_IDS).join() };
    take((await call(LIST, { params: { org }, query })).items);
  }
}

/** Rows keep their position. Ended executions stay ended: an older response may arrive later. */
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
  if (added.length === 0 || before.length >= MAX_FRESH) return before;
  const byId = new Map([...before, ...added].map((item) => [item.id, item]));
  return [...byId.values()];
}
